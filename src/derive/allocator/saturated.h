// Sums of sizes from a file, which may be anything.
#pragma once

#include <cstdint>
#include <limits>

namespace stepscope::derive {

/// a + b, saturated.
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() + 1 : std::numeric_limits<std::int64_t>::max();
}

}  // namespace stepscope::derive
