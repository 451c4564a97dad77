// The lines in a table of shape `curve`: one per value column and group of rows. Terminal and HTML plots read
// them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

struct Series {
  std::string name;          ///< value column and group, for people
  Unit unit = Unit::none;    ///< of y
  std::vector<double> x, y;  ///< sorted by x; rows without a value are left out
};

struct Curves {
  const Column* x = nullptr;  ///< the numeric key, nullptr when the table has none
  std::vector<Series> series;
  std::size_t left_out = 0;  ///< series beyond the first `most`
};

/// x is the last numeric key column (unit ns is preferred); the other keys make groups.
Curves curves_of(const Table& table, std::size_t most);

struct Extent {
  double low = 0, high = 0;
};

/// The values' bounds, low < high. `with_zero`: extended to 0 if all values are on one side of it.
Extent extent_of(const std::vector<double>& values, bool with_zero);

/// A place on the x axis, for people.
std::string format_x(const Column& x, double value);

/// The smallest and largest value in one column of a plot; low > high if there is none.
struct Span {
  double low = HUGE_VAL, high = -HUGE_VAL;
};

/// One Span per column over `x`. A value holds until the next one, as an allocation does, so no spike is
/// lost.
std::vector<Span> spans_of(const Series& series, Extent x, int columns);

/// Where `value` lies in `extent`, 0 … 1.
double place_in(Extent extent, double value);

}  // namespace stepscope::report
