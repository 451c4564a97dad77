// Loops of operators in the program, and what they launch.
#pragma once

#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::analyze {

/// Columns: unit, parent, source, region, loops, times, host, idle, events, device, p50.
report::Table loop_table(const trace::Trace& trace);

/// Adds a rank's loops of chosen steps that launch something, most host time first.
void add_loops(report::Table& table, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
