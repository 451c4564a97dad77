// Idle time by the place in the program where the host was meanwhile.
#pragma once

#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::analyze {

/// Columns: cause, place, source, region, where, count, time, per_step, longest.
report::Table place_table(const trace::Trace& trace, const char* title);

/// Adds a rank's places, most time first. `steps`: complete ones chosen.
void add_idle_places(report::Table& table, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

/// The same of a rank without device work: all time of its main thread. A gap is time without operators;
/// `after loading` lasts until an operator begins that a backward pass goes back through.
void add_host_places(report::Table& table, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

}  // namespace stepscope::analyze
