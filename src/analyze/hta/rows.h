// The table that HTA makes of a file: the events it keeps, their order, times in whole µs, links and
// iterations (spec: HTA 0.6.1, TraceAnalysis()). HTA's defects are kept, for --hta-compat.
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

/// `index` is the position in the file's event list. A length can be -1 µs if the file has fractions of µs.
using path::Event;
/// Events are in HTA's order; `earliest` is the earliest time of all ranks.
using path::Table;
using timeline::Time;
using trace::Row;

inline constexpr std::int64_t kNoIteration = -2;  ///< HTA's NaN: device work of stream 0

/// Which events of a recording with several profiler steps are kept. By default HTA drops host events from
/// the last step on, and device events whose call is dropped. Its TraceDiff keeps everything.
enum class Keep : std::uint8_t { without_last_step, with_last_step, everything };
/// From the params "hta-last-step" and "everything".
Keep keep_of(const report::Params& params);

/// Tables of all ranks; times since the earliest event.
const std::vector<Table>& tables_of(const Derived& derived, Keep keep);

}  // namespace stepscope::analyze::hta
