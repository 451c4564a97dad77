// Idle time by the place in the program where the host was meanwhile.
#pragma once

#include "analyze/derived.h"
#include "report/table.h"

namespace stepscope::analyze {

/// Columns: cause, place, source, region, where, count, time, per_step, longest.
report::Table idle_place_table(const trace::Trace& trace);

/// Adds a rank's places, most time first. `steps`: complete ones chosen.
void add_idle_places(report::Table& table, const Derived& derived, const trace::Rank& rank,
                     std::int64_t steps);

}  // namespace stepscope::analyze
