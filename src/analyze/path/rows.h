// A rank's events as a table that links calls and their device work by index: the input for paths and call
// trees.
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
  std::int64_t index = 0;                      ///< unique in its table
  Time start = 0, length = 0;                  ///< ns
  std::int64_t stream = -1, correlation = -1;  ///< -1: none
  std::int64_t partner = -1;                   ///< index of the linked event; 0: absent; -1: no correlation
  std::int64_t iteration = -1;
  Time end() const { return start + length; }
};

struct Table {
  const trace::Rank* rank = nullptr;
  Time earliest = 0;  ///< subtracted from all times
  std::vector<Event> events;
  const Event& at(std::int32_t position) const { return events[static_cast<std::size_t>(position)]; }
};

/// Whether an event is in such a table: it has a category and a duration, and is not the span of the
/// recording.
bool is_listed(const trace::Trace& trace, const trace::Rank& rank, Row row);

/// All steps. Times count from the rank's first event; an index is a row number from 1; streams are those of
/// the tracks.
Table table_of(const trace::Trace& trace, const trace::Rank& rank);

/// An event of a thread and its parent; positions in Table::events, -1: no parent.
struct Nested {
  std::int32_t event, parent;
};
/// In the order in which events open. The parent is the event on top of the stack of open ones; a close pops
/// that stack, whichever event closes.
std::vector<Nested> nested_in(const Table& table, const std::vector<std::int32_t>& thread);

}  // namespace stepscope::analyze::path
