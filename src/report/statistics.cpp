#include "report/statistics.h"

#include <algorithm>
#include <cmath>

namespace stepscope::report {

std::int64_t mean(std::int64_t total, std::int64_t count) {
  if (count <= 0) return kNoInt;
  const std::int64_t whole = total / count, rest = total % count;
  const std::int64_t up = rest >= 0 ? (rest > (count - 1) / 2) : -(-rest > (count - 1) / 2);
  return whole + up;
}

std::int64_t quantile(std::span<std::int64_t> values, double q) {
  if (values.empty()) return kNoInt;
  const double wanted = std::ceil(q * static_cast<double>(values.size()));
  const auto rank = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace stepscope::report
