// "Did you mean": the nearest of the words that would have been right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

/// Edits that turn `a` into `b`: a letter inserted, dropped, changed or swapped with its neighbour.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The choice nearest to `word`: within a third of its letters or, from 3 letters on, one is a prefix of the
/// other. "" if there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& choices);

/// " Did you mean 'x'?", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

}  // namespace stepscope::report
