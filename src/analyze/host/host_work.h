// What operators of a program without a device take of its main thread.
#pragma once

#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::analyze {

/// Columns: kind, dtype, calls, time, mean, chained.
report::Table host_work_table(const trace::Trace& trace);
/// Adds a rank's operators that compute, by kind and type, most time first.
void add_host_work(report::Table& table, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
