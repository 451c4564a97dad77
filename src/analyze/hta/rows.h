// The table that HTA makes of a file: which events it keeps, in which order, at which whole microseconds,
// linked how, in which iteration (spec: HTA 0.6.1, TraceAnalysis()). Its defects are kept: that is what
// --hta-compat is for.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/hta/names.h"
#include "report/params.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze::hta {

using timeline::Time;
using trace::Row;

inline constexpr std::int64_t kNoIteration = -2;  ///< NaN: device work of stream 0

struct Event {
  Row row = trace::kNoRow;
  std::int64_t index = 0;      ///< position in the file's event list
  Time start = 0, length = 0;  ///< ns, whole microseconds; a length can be -1 µs where the file has fractions
  std::int64_t stream = -1, correlation = -1;
  std::int64_t partner = -1;  ///< index of the linked event; 0: it is absent; -1: no correlation
  std::int64_t iteration = -1;
  Time end() const { return start + length; }
};

struct Table {
  const trace::Rank* rank = nullptr;
  Time earliest = 0;          ///< of all ranks; was subtracted from all times
  std::vector<Event> events;  ///< in HTA's order
};

/// What of a recording with several profiler steps is kept: HTA drops events on the host from the last step
/// on, unless that is asked for, and device events whose call is not kept. Its TraceDiff keeps everything.
enum class Keep : std::uint8_t { without_last_step, with_last_step, everything };
inline constexpr std::size_t kKeeps = 3;
/// The params "hta-last-step" and "everything".
Keep keep_of(const report::Params& params);

/// All ranks, their times since the earliest event.
std::vector<Table> tables_of(const trace::Trace& trace, Keep keep);

/// The same of one rank without HTA's defects: nanoseconds since the rank's first event, the engine's own
/// links, all steps; indices are rows, from 1. Streams are the tracks'.
Table exact_table(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::analyze::hta
