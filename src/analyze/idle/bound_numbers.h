// Who waits for whom: the numbers that decide it, and the word they give.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/derived.h"
#include "derive/idle/ledger.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Times in ns of the window of the chosen steps, means over the rank's devices where they are of devices.
struct BoundNumbers {
  std::int64_t window = 0, steps = 0;  ///< its length; complete steps in it, at least 1
  std::int64_t step = report::kNoInt;  ///< T: median device length of its steps
  std::int64_t idle = 0, late = 0;     ///< nothing runs; of that, before the work had been asked for
  std::int64_t latency = 0;            ///< of it, work on its way to a device that had nothing else queued
  std::int64_t exposed_communication = 0;    ///< a collective runs and no compute
  std::int64_t blocked = 0;                  ///< some thread is in a waiting call of a step
  std::int64_t lag_growth = report::kNoInt;  ///< by which the median launch delay grows from step to step
  double prompt = report::kNoReal;  ///< share of kernels that start at most 10 µs after their launch call
  derive::IdleCause largest = derive::IdleCause::untraced;  ///< cause of most of `late`
  std::int64_t largest_time = 0;

  /// `part` of the window, 0 when there is none.
  double share(std::int64_t part) const;
};

/// `atoms`: the ledger of the rank's devices over the window.
BoundNumbers bound_numbers(const Derived& derived, const trace::Rank& rank,
                           const std::vector<Column<derive::Atom>>& atoms);

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
