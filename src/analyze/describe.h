// What some numbers are like: count, mean, deviation, least, quartiles, most.
#pragma once

#include <cstdint>
#include <vector>

#include "report/table.h"

namespace stepscope::analyze {

struct Description {
  std::int64_t count = 0;
  double mean = report::kNoReal, deviation = report::kNoReal, least = report::kNoReal;
  double quarter = report::kNoReal, half = report::kNoReal, three_quarters = report::kNoReal;
  double most = report::kNoReal;
};

/// Quartiles between two values are interpolated linearly (type 7 of Hyndman and Fan 1996); the deviation is
/// the sample's, divided by n - 1, and absent of a single value.
Description described(std::vector<double> values);

/// Linear interpolation between the values around (n - 1) × q; `sorted` is not empty.
double interpolated(const std::vector<double>& sorted, double q);

/// Columns count, mean, std, min, 25%, 50%, 75%, max of one quantity.
class DescriptionColumns {
 public:
  DescriptionColumns(report::Table& table, report::Unit unit);
  void add(const Description& d);

 private:
  report::Ints* count_;
  report::Reals* reals_[7];
};

}  // namespace stepscope::analyze
