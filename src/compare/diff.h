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

/// How many steps to leave out of each recording: `skip`, else the first, which warms up, when more than
/// enough remain of `fewest` and none were chosen.
std::size_t warm_up(std::size_t fewest, const report::Params& params);

/// Both sides, without their first steps. `params`: step, skip.
Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params);

/// Step time and what explains its change, with doubts that the two are of the same thing among its notes.
StepDifference diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings);

}  // namespace stepscope::compare
