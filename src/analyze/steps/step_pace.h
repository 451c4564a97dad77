// How fast each step's host and device work went, compared with the other steps: time per call of the same
// names, on inputs of the same shapes where they are recorded.
#pragma once

#include <vector>

#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A pace of 1.4: the same calls took 1.4 times as long as in the median step.
struct StepPace {
  double host = report::kNoReal;    ///< median over ops and shapes, weighted by time at the median pace
  double slower = report::kNoReal;  ///< share of the weight in those with a ratio of at least kSlower
  double device = report::kNoReal;  ///< as `host`, over compute kernels
};
inline constexpr double kSlower = 1.3;

/// By step. An op's time is its self time. Calls of a name and shapes need at least 8 calls per step on
/// average (kernels: 5). With fewer than 5 such or 3 steps, paces are kNoReal. O(n).
std::vector<StepPace> step_paces(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::analyze
