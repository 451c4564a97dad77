// Summary statistics: count, mean, deviation, min, quartiles, max.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "report/sheet.h"

namespace stepscope::analyze {

struct Description {
  std::int64_t count = 0;
  double mean = report::kNoReal, deviation = report::kNoReal, least = report::kNoReal;
  double quarter = report::kNoReal, half = report::kNoReal, three_quarters = report::kNoReal;
  double most = report::kNoReal;
};

/// Quartiles between two values are interpolated linearly (type 7 of Hyndman and Fan 1996). The deviation is
/// the sample's, divided by n - 1; kNoReal for a single value.
Description described(std::vector<double> values);

/// The quantile q: linear interpolation around index (n - 1) × q. `sorted` must not be empty.
double interpolated(const std::vector<double>& sorted, double q);

/// The fields `before`, then those of the Description that Row derives from (count, mean, std, min, p25, p50,
/// p75, max), then `after`.
template <class Row>
std::vector<report::Field<Row>> with_description(std::vector<report::Field<Row>> before, report::Unit unit,
                                                 const std::vector<report::Field<Row>>& after = {}) {
  const report::Field<Row> own[] = {{"count", &Row::count, report::Unit::count},
                                    {"mean", &Row::mean, unit},
                                    {"std", &Row::deviation, unit},
                                    {"min", &Row::least, unit},
                                    {"p25", &Row::quarter, unit},
                                    {"p50", &Row::half, unit},
                                    {"p75", &Row::three_quarters, unit},
                                    {"max", &Row::most, unit}};
  before.insert(before.end(), std::begin(own), std::end(own));
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

}  // namespace stepscope::analyze
