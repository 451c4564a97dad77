#include "collect/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stepscope::collect {
namespace {

#if defined(__x86_64__)
bool counter_is_invariant() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}
#endif

bool kernel_trusts_the_counter() {
  const int file =
      ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[16] = {};
  const bool read = ::read(file, text, sizeof text - 1) > 0;
  ::close(file);
  return read && std::strncmp(text, "tsc", 3) == 0;
}

}  // namespace

record::Clock best_clock() {
#if defined(__x86_64__)
  if (counter_is_invariant() && kernel_trusts_the_counter()) return record::Clock::tsc;
#endif
  return record::Clock::monotonic_ns;
}

record::ClockPair clock_pair(record::Clock clock) {
  record::ClockPair best{};
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t before = ticks(clock);
    const std::int64_t monotonic = nanoseconds(CLOCK_MONOTONIC), realtime = nanoseconds(CLOCK_REALTIME);
    const std::uint64_t after = ticks(clock);
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, monotonic, realtime};
  }
  return best;
}

}  // namespace stepscope::collect
