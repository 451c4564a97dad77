#include "derive/idle/loading.h"

#include <set>

#include "derive/flow_events.h"
#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {
namespace {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

bool is_loader_frame(std::string_view name) {
  return name.find("dataloader.py(") != std::string_view::npos && name.ends_with(": __next__");
}

std::vector<Row> outermost(const trace::Trace& trace, const trace::Rank& rank, bool frames) {
  const EventTable& e = rank.events;
  const auto is_loading = frames ? is_loader_frame : is_data_loading;
  if (!trace.strings.any(is_loading)) return {};
  trace::AskedOnce loads(trace.strings, is_loading);
  std::vector<bool> loading(e.size());
  std::vector<Row> rows;
  for (const Row row : rank.host_rows()) {
    if (!is_host_range(e.kind[row])) continue;
    loading[row] = e.parent[row] != kNoRow && loading[e.parent[row]];
    if (loading[row] || e.kind[row] == Kind::runtime || (e.kind[row] == Kind::python) != frames) continue;
    if (!loads(e.name[row])) continue;
    loading[row] = true;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<Row> loading_rows(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<Row> marked = outermost(trace, rank, false);
  return marked.empty() ? outermost(trace, rank, true) : marked;
}

timeline::IntervalSet loading_time(const trace::Trace& trace, const trace::Rank& rank) {
  Column<timeline::Interval> spans;
  for (const Row row : loading_rows(trace, rank))
    spans.push_back({rank.events.start[row], rank.events.end[row]});
  return timeline::IntervalSet::of(std::move(spans));
}

std::map<Row, Row> batch_fetches(const trace::Trace& trace, const trace::Rank& rank,
                                 const std::vector<Row>& waits) {
  constexpr std::string_view kFetch = "DataLoader.fetch";
  const EventTable& e = rank.events;
  const FlowEvents flows = flow_events(rank);
  const std::set<Row> waiting(waits.begin(), waits.end());
  const auto above = [&](Row row, auto is) {
    while (row != kNoRow && !is(row)) row = e.parent[row];
    return row;
  };
  std::map<Row, Row> fetches;
  for (std::size_t flow = 0; flow < flows.from.size(); ++flow) {
    if (flows.from[flow] == kNoRow || flows.to[flow] == kNoRow) continue;
    const Row wait = above(flows.to[flow], [&](Row row) { return waiting.contains(row); });
    const Row fetch = above(flows.from[flow], [&](Row row) { return trace.text(e.name[row]) == kFetch; });
    if (wait != kNoRow && fetch != kNoRow &&
        rank.tracks[e.track[wait]].pid != rank.tracks[e.track[fetch]].pid)
      fetches[wait] = fetch;
  }
  return fetches;
}

}  // namespace stepscope::derive
