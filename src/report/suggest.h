// "Did you mean": the nearest of the words that would have been right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

/// Letters to insert, drop, change or swap with their neighbour to turn `a` into `b`.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The choice nearest to `word`, "" when none is near: at most a third of its letters away, or one begins the
/// other.
std::string nearest(std::string_view word, const std::vector<std::string>& choices);

/// " Did you mean 'x'?", or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);

}  // namespace stepscope::report
