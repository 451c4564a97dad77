// The critical path of HTA's table, by HTA's classes of calls.
#include "analyze/path/critical_path.h"

#include "analyze/hta/rows.h"
#include "analyze/list.h"

namespace stepscope::analyze::hta {
namespace {

bool communicates(const trace::Trace& trace, const trace::Rank& rank, Row row) {
  return kernel_type(trace.name(rank, row)) == KernelType::communication;
}

constexpr path::Rules kRules = {blocks, communicates, holds_calls, is_queued_launch, true};

}  // namespace

constinit const FormParams critical_path_params = {};

report::Report critical_path(const Derived& derived, const report::Params& params) {
  return critical_path_report(derived.trace(), tables_of(derived, keep_of(params)), kRules, params);
}

void draw_critical_path(const Derived& derived, const report::Params& params, Sketch& sketch) {
  for (const Table& table : tables_of(derived, keep_of(params)))
    if (table.rank == &sketch.rank()) draw_path_of(derived.trace(), table, kRules, params, sketch);
}

}  // namespace stepscope::analyze::hta
