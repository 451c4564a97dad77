// What a rank's clock shows at a given true time.
#pragma once

#include <cstdint>

#include "make_trace/options.h"
#include "make_trace/run/jitter.h"

namespace stepscope::make_trace {

struct Clock {
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppb = 0;

  /// Never runs backwards, so order and nesting survive. Exact to 1 ns below 1,000 ppm.
  std::int64_t shown(std::int64_t at) const { return at + offset_ns + at / 1000 * drift_ppb / 1'000'000; }
};

inline Clock clock_of(const Options& options, int rank) {
  const std::uint64_t bits = mix(options.seed ^ 0xc10c, static_cast<std::uint64_t>(rank));
  Clock clock;
  clock.offset_ns = static_cast<std::int64_t>(signed_unit(bits) * options.clock_skew_us * 1e3);
  clock.drift_ppb = static_cast<std::int64_t>(signed_unit(mix(bits)) * options.clock_drift_ppm * 1e3);
  return clock;
}

}  // namespace stepscope::make_trace
