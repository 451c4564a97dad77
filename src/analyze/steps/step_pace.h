// How fast each step's host and device work went, compared with the other steps: the same names, call by
// call.
#pragma once

#include <vector>

#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A pace of 1.4: what has the same name took 1.4 times as long a call as in the median step.
struct StepPace {
  double host = report::kNoReal;    ///< median over names of ops, each weighed by its time in the median step
  double slower = report::kNoReal;  ///< weight of those names that took at least kSlower times as long / all
  double device = report::kNoReal;  ///< the same as `host` over names of compute kernels
};
inline constexpr double kSlower = 1.3;

/// By step. An op's time is its own, without the ranges and calls inside. Names with fewer than 8 calls a
/// step (kernels: 5) do not count, and with under 5 such names or under 3 steps nothing is known. O(n).
std::vector<StepPace> step_paces(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::analyze
