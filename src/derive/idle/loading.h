// When the program waited for data: the one definition of it.
#pragma once

#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// The outermost ranges that load data, in row order: ranges that a loader marks
/// ("enumerate(DataLoader)#….__next__"); in a rank without marks, Python frames of a loader's `__next__`.
std::vector<trace::Row> loading_rows(const trace::Trace& trace, const trace::Rank& rank);

/// The time that they cover, on any thread.
timeline::IntervalSet loading_time(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
