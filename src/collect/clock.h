// The collector's clock: the processor's counter if its rate is constant and the kernel uses it as its clock,
// else the monotonic clock.
#pragma once

#include <cstdint>
#include <ctime>

#include "record/format.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace stepscope::collect {

inline std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::uint64_t ticks(record::Clock clock) {
#if defined(__x86_64__)
  if (clock == record::Clock::tsc) return __rdtsc();
#endif
  return static_cast<std::uint64_t>(nanoseconds(CLOCK_MONOTONIC));
}

/// Reads the other clocks between two readings of `clock`, 64 times, and returns the tightest.
record::ClockPair clock_pair(record::Clock clock);
record::Clock best_clock();

}  // namespace stepscope::collect
