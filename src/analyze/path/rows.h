// A rank's events as a table in which calls and their device work are linked by index: what paths and trees
// of calls are found in.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze::path {

using timeline::Time;
using trace::Row;

struct Event {
  Row row = trace::kNoRow;
  std::int64_t index = 0;                      ///< one of a kind in its table
  Time start = 0, length = 0;                  ///< ns
  std::int64_t stream = -1, correlation = -1;  ///< -1: none
  std::int64_t partner = -1;  ///< index of the linked event; 0: it is absent; -1: no correlation
  std::int64_t iteration = -1;
  Time end() const { return start + length; }
};

struct Table {
  const trace::Rank* rank = nullptr;
  Time earliest = 0;  ///< was subtracted from all times
  std::vector<Event> events;
  const Event& at(std::int32_t position) const { return events[static_cast<std::size_t>(position)]; }
};

/// Whether an event is in such a table: it has a category and a duration, and is not the span of the
/// recording.
bool is_listed(const trace::Trace& trace, const trace::Rank& rank, Row row);

/// Of all steps; times since the rank's first event. Indices are rows, from 1; streams are the tracks'.
Table table_of(const trace::Trace& trace, const trace::Rank& rank);

/// An event of a thread and what it lies in; positions in Table::events, -1: nothing.
struct Nested {
  std::int32_t event, parent;
};
/// In the order in which they open. What opened last is the parent; a close takes it away, whoever's it is.
std::vector<Nested> nested_in(const Table& table, const std::vector<std::int32_t>& thread);

}  // namespace stepscope::analyze::path
