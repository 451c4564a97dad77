// The numbers that decide what bounds a rank's steps (host, communication, device), and the word for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "analyze/steps/long_steps.h"
#include "derive/idle/ledger.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Times in ns within the typical steps (TypicalSteps). Device times are means over the rank's devices.
struct BoundNumbers {
  std::int64_t window = 0, steps = 0;  ///< length of the typical steps; their number, at least 1
  std::int64_t step = report::kNoInt;  ///< T: median device length of all chosen steps
  std::int64_t busy = 0;               ///< device work runs
  std::int64_t idle = 0, late = 0;     ///< no device work runs; of `idle`, before the next work was launched
  std::int64_t latency = 0;            ///< of `idle`, launch latency onto an empty queue
  std::int64_t exposed_communication = 0;    ///< a collective runs and no compute kernel
  std::int64_t blocked = 0;                  ///< a thread is in a waiting call within a step
  std::int64_t lag_growth = report::kNoInt;  ///< growth of the median launch delay from step to step
  double prompt = report::kNoReal;  ///< share of kernels that start at most 10 µs after their launch call
  derive::IdleCause largest = derive::IdleCause::untraced;  ///< cause with the largest part of `late`
  std::int64_t largest_time = 0;

  /// `part` / window, 0 without a window.
  double share(std::int64_t part) const;
};

/// `owners`: the times of each of the rank's devices, within the typical steps.
BoundNumbers bound_numbers(const Derived& derived, const trace::Rank& rank, const TypicalSteps& typical,
                           const std::vector<derive::OwnerTimes>& owners);

/// What a step waits for.
enum class Limit : std::uint8_t { unknown, host, communication, device, mixed };
/// "host-bound", …, "unknown" without device work.
std::string_view name_of(Limit limit);

struct BoundWord {
  Limit limit = Limit::unknown;
  std::string reason;  ///< the test that held, with its numbers
};

/// The first test that holds: late + latency ≥ 15 % and blocked ≤ 5 % → host; exposed communication ≥ 10 % →
/// communication; idle ≤ 10 %, or blocked ≥ 10 % and late ≤ 5 %, or lag growth ≥ 2 % of T → device; else
/// mixed.
BoundWord bound_word(const BoundNumbers& numbers);

}  // namespace stepscope::analyze
