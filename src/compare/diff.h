// Two recordings compared: what `stepscope diff` prints.
#pragma once

#include "compare/recording.h"
#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::compare {

struct Pair {
  Recording a, b;
};

/// Both sides, without their first steps when enough remain. `params`: step, skip.
Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params);

/// Step time and what explains its change. `params`: step, skip.
report::Report diff(const trace::Trace& a, const trace::Trace& b, const report::Params& params);

}  // namespace stepscope::compare
