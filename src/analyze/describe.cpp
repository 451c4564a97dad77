#include "analyze/describe.h"

#include <algorithm>
#include <cmath>

namespace stepscope::analyze {

double interpolated(const std::vector<double>& sorted, double q) {
  const double at = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

Description described(std::vector<double> values) {
  Description d;
  d.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return d;
  std::sort(values.begin(), values.end());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  d.mean = sum / static_cast<double>(values.size());
  for (const double v : values) squares += (v - d.mean) * (v - d.mean);
  if (values.size() > 1) d.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  d.least = values.front();
  d.quarter = interpolated(values, 0.25);
  d.half = interpolated(values, 0.5);
  d.three_quarters = interpolated(values, 0.75);
  d.most = values.back();
  return d;
}

}  // namespace stepscope::analyze
