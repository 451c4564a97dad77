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

/// Both sides, without their warm-up and rare pauses. `params`: step, skip.
Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params);

/// The change of the step time and what explains it. Its notes begin with doubts that the two are comparable.
/// Fills in the leaves of `recordings`.
StepDifference diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings);

}  // namespace stepscope::compare
