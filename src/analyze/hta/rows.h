// The table that HTA makes of a file: which events it keeps, in which order, at which whole microseconds,
// linked how, in which iteration (spec: HTA 0.6.1, TraceAnalysis()). Its defects are kept: that is what
// --hta-compat is for.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "analyze/hta/names.h"
#include "analyze/path/rows.h"
#include "report/params.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze::hta {

/// `index` is the position in the file's event list. A length can be -1 µs where the file has fractions.
using path::Event;
/// In HTA's order; `earliest` is of all ranks.
using path::Table;
using timeline::Time;
using trace::Row;

inline constexpr std::int64_t kNoIteration = -2;  ///< NaN: device work of stream 0

/// What of a recording with several profiler steps is kept: HTA drops events on the host from the last step
/// on, unless that is asked for, and device events whose call is not kept. Its TraceDiff keeps everything.
enum class Keep : std::uint8_t { without_last_step, with_last_step, everything };
/// The params "hta-last-step" and "everything".
Keep keep_of(const report::Params& params);

/// All ranks, their times since the earliest event.
const std::vector<Table>& tables_of(const Derived& derived, Keep keep);

}  // namespace stepscope::analyze::hta
