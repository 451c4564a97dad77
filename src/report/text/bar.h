// Lengths drawn with characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

/// A bar of `fraction` (0 … 1) of `cells`, to an eighth of a cell; anything above zero shows at least the
/// thinnest.
std::string bar(double fraction, int cells);

/// How many of `cells` each part gets, largest remainders first, so that they add up to the sum's rounded
/// share of `whole`. Parts above zero get at least one cell while there is room.
std::vector<int> cells_per_part(const std::vector<double>& parts, double whole, int cells);

std::string repeated(std::string_view piece, int times);

}  // namespace stepscope::report
