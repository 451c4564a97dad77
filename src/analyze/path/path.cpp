#include "analyze/path/path.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "analyze/path/growing_path.h"
#include "base/text.h"
#include "derive/kernel_class.h"

namespace stepscope::analyze::path {

namespace {

bool communicates(const trace::Trace& /*trace*/, const trace::Rank& rank, Row row) {
  return rank.events.work[row] == trace::Work::communication;
}

using timeline::Interval;

/// From the earliest start to the latest end of the chosen ranges; `instance` is set to the number of ranges
/// with such a name.
std::optional<Interval> window_of(const PathRows& rows, const Ranges& ranges, std::int64_t& instance) {
  if (ranges.annotation.empty())
    return Interval{std::numeric_limits<Time>::min() / 2, std::numeric_limits<Time>::max() / 2};
  std::optional<Interval> window;
  for (Position at = 0; at < rows.size(); ++at) {
    if (rows.is_device(at) && !rows.rules().mirrored_ranges) continue;
    if (!has(rows.name(at), ranges.annotation)) continue;
    const std::int64_t number = instance++;
    if (number < ranges.instances.first || number > ranges.instances.second) continue;
    const Interval range{rows.event(at).start, rows.event(at).end()};
    window =
        window ? Interval{std::min(window->begin, range.begin), std::max(window->end, range.end)} : range;
  }
  return window;
}

/// Calls that begin in the window, and what they launched; stream waits at any time.
std::vector<Position> rows_inside(const PathRows& rows, Interval window) {
  std::vector<Position> inside;
  for (Position at = 0; at < rows.size(); ++at) {
    const Position launch = rows.is_device(at) ? rows.partner(at) : at;
    const bool begins = launch != kNone && rows.event(launch).length > 0 &&
                        rows.event(launch).start >= window.begin && rows.event(launch).start <= window.end;
    if (begins || rows.name(at) == "Stream Wait Event") inside.push_back(at);
  }
  return inside;
}

}  // namespace

std::string_view name_of(EdgeType type) {
  constexpr std::string_view kNames[] = {"operator", "dependency", "kernel_launch_delay",
                                         "kernel_kernel_delay", "sync_dependency"};
  return kNames[static_cast<std::size_t>(type)];
}

const Rules kRules = {derive::is_blocking_call, communicates};

std::int64_t ranges_before(const trace::Trace& trace, const Table& table, std::string_view annotation,
                           Row row) {
  return std::count_if(table.events.begin(), table.events.end(), [&](const Event& event) {
    return event.row < row && event.stream == -1 && has(trace.name(*table.rank, event.row), annotation);
  });
}

PathGraph longest_path(const trace::Trace& trace, const Table& table, const Ranges& ranges,
                       const Rules& rules) {
  PathRows rows(trace, table, rules);
  PathGraph graph;
  const std::optional<Interval> window = window_of(rows, ranges, graph.ranges);
  if (!window) return graph;
  const std::int64_t named = graph.ranges;
  const std::vector<Position> inside = rows_inside(rows, *window);
  GrowingPath path(rows, inside);
  add_host_edges(rows, inside, path);
  add_device_edges(rows, inside, path);
  graph = path.take();
  graph.ranges = named;
  find_longest(graph);
  return graph;
}

}  // namespace stepscope::analyze::path
