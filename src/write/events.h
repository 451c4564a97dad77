// Events with their args as report tables: all of them piece by piece, so that a trace of any size can be
// streamed, or the chosen ones at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "report/table.h"
#include "trace/trace.h"
#include "write/sqlite.h"

namespace stepscope::write {

/// Calls `take` with tables, at least one. Their columns are those of the SQL table `event`, and `args` as
/// JSON text. `take` returns false to stop.
void events(const trace::Trace& trace, const std::function<bool(const report::Table&)>& take);

/// Which events. What is not set chooses all; an empty list chooses none.
struct EventChoice {
  std::optional<std::vector<std::int64_t>> ranks{};              ///< as rank_name() has them
  std::optional<std::pair<std::int64_t, std::int64_t>> steps{};  ///< numbers of the first and the last
  std::optional<std::vector<trace::Kind>> kinds{};
  std::string name{};  ///< a part of the event's name
  bool args = true;    ///< false: without the column `args`
};
report::Table events(const trace::Trace& trace, const EventChoice& choice);

/// Writes all events as JSON or CSV; `path` "" or "-": standard output. Of memory snapshots alone, the table
/// allocator_event.
std::optional<Error> export_events(const trace::Trace& trace, const std::string& path, bool json);

/// Writes one of trace_tables(), no view, as JSON or CSV.
std::optional<Error> export_table(const trace::Trace& trace, const TraceTable& table, const std::string& path,
                                  bool json);

}  // namespace stepscope::write
