// Two recordings compared: what `stepscope diff` prints.
#pragma once

#include "compare/recording.h"
#include "compare/step_difference.h"
#include "report/params.h"
#include "trace/trace.h"

namespace stepscope::compare {

struct Pair {
  Recording a, b;
};

/// Number of first steps to leave out of each recording: `skip` if given; else 1 for warm-up, but 0 if `step`
/// is given or `fewest`, the smaller number of steps, is at most kMinSteps.
std::size_t warm_up(std::size_t fewest, const report::Params& params);

/// Both sides, without their warm-up steps. `params`: step, skip.
Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params);

/// The change of the step time and what explains it. Its notes begin with doubts that the two are comparable.
/// Fills in the leaves of `recordings`.
StepDifference diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings);

}  // namespace stepscope::compare
