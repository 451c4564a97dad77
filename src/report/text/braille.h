// A line drawn with braille dots: two by four to the terminal cell.
#pragma once

#include <string>
#include <vector>

#include "report/series.h"

namespace stepscope::report {

/// `rows` lines of `cells` cells, the top one first. Values hold until the next x, as allocations do; every
/// column shows the least and the most of what falls into it, so that no spike is lost.
std::vector<std::string> braille_plot(const Series& series, Extent x, Extent y, int cells, int rows);

}  // namespace stepscope::report
