// Defines when the program waited for data, for all analyses.
#pragma once

#include <map>
#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// The outermost ranges that load data, in row order: ranges marked by a loader
/// ("enumerate(DataLoader)#….__next__"). In a rank without such marks: Python frames of a loader's
/// `__next__`.
std::vector<trace::Row> loading_rows(const trace::Trace& trace, const trace::Rank& rank);

/// The time covered by `loading_rows`, on any thread.
timeline::IntervalSet loading_time(const trace::Trace& trace, const trace::Rank& rank);

/// The worker's range in which it fetched a batch ("DataLoader.fetch"), by the row of `waits` that took the
/// batch, as far as arrows lead from one to the other.
std::map<trace::Row, trace::Row> batch_fetches(const trace::Trace& trace, const trace::Rank& rank,
                                               const std::vector<trace::Row>& waits);

}  // namespace stepscope::derive
