// Loops of operators in the program, and what they launch.
#pragma once

#include <string>

#include "analyze/derived.h"
#include "derive/repeated_ops.h"
#include "report/table.h"

namespace stepscope::analyze {

/// "aten::select aten::mul", the operators of a run's first round.
std::string loop_unit(const trace::Trace& trace, const trace::Rank& rank, const derive::RepeatedOps& run);

/// Columns: unit, parent, source, region, loops, times, waits, host, recording, idle, events, device, p50.
report::Table loop_table(const trace::Trace& trace);

/// Adds a rank's loops of chosen steps, most host time first; where a device is recorded, those that launch
/// something.
void add_loops(report::Table& table, const Derived& derived, const trace::Rank& rank);

}  // namespace stepscope::analyze
