// Every event with all its args as report tables, piece by piece, so that a trace of any size can be
// streamed.
#pragma once

#include <functional>

#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::write {

/// Calls `take` with tables, at least one. Their columns are those of the SQL table `event`, and `args` as
/// JSON text. `take` returns false to stop.
void events(const trace::Trace& trace, const std::function<bool(const report::Table&)>& take);

}  // namespace stepscope::write
