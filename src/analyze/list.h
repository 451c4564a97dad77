// The entry points of the analyses, one line each; analyses.cpp is the array that everything reads.
#pragma once

#include "report/params.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

report::Report devices(const trace::Trace& trace, const report::Params& params);
report::Report idle(const trace::Trace& trace, const report::Params& params);
report::Report overview(const trace::Trace& trace, const report::Params& params);
report::Report kernels(const trace::Trace& trace, const report::Params& params);
report::Report launches(const trace::Trace& trace, const report::Params& params);
report::Report synchronizations(const trace::Trace& trace, const report::Params& params);
report::Report input_wait(const trace::Trace& trace, const report::Params& params);
report::Report call_tree(const trace::Trace& trace, const report::Params& params);
report::Report python_stacks(const trace::Trace& trace, const report::Params& params);
report::Report modules(const trace::Trace& trace, const report::Params& params);
report::Report memory_events(const trace::Trace& trace, const report::Params& params);
report::Report event(const trace::Trace& trace, const report::Params& params);
report::Report steps(const trace::Trace& trace, const report::Params& params);

}  // namespace stepscope::analyze
