// The one definition of sum, mean, median and percentile of integer measurements.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "report/table.h"

namespace stepscope::report {

/// a + b, saturated instead of overflowing; never kNoInt.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum) && sum != kNoInt) return sum;
  return a < 0 ? kNoInt + 1 : std::numeric_limits<std::int64_t>::max();
}

inline void add_to(std::int64_t& sum, std::int64_t value) { sum = plus(sum, value); }

/// total / count to the nearest integer; kNoInt when count is 0.
std::int64_t mean(std::int64_t total, std::int64_t count);

/// part / whole; kNoReal when whole is not positive.
inline double ratio(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNoReal;
}

/// Nearest rank: the smallest of the values such that at least a share `q` (0 … 1) of them does not exceed
/// it. Reorders `values`; kNoInt when there are none.
std::int64_t quantile(std::span<std::int64_t> values, double q);

}  // namespace stepscope::report
