#include "analyze/idle/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/list.h"
#include "derive/idle/launch_queue.h"
#include "derive/kernel_class.h"
#include "report/statistics.h"
#include "report/units.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::LaunchQueue;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// ns. An unloaded launch starts in 2 to 5 µs; with a longer delay the event waited for other work.
constexpr std::int64_t kQueueWasEmpty = 10'000;

struct StreamSum {
  std::vector<std::int64_t> delays;
  std::int64_t empty = 0, blocked = 0, launches = 0;
  std::int32_t depth = 0;
};

void add_streams(std::vector<StreamDelays>& streams, const Rank& rank, const StepChoice& choice,
                 const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  std::vector<StreamSum> sums(rank.tracks.size());
  std::vector<Row> last(rank.tracks.size(), kNoRow);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (!choice.includes(rank, queue.event[i])) continue;
    StreamSum& sum = sums[e.track[queue.event[i]]];
    sum.delays.push_back(queue.delay[i]);
    sum.empty += queue.delay[i] <= kQueueWasEmpty;
    sum.depth = std::max(sum.depth, queue.depth[i]);
    if (std::exchange(last[e.track[queue.event[i]]], queue.launch[i]) == queue.launch[i]) continue;
    ++sum.launches;
    report::add_to(sum.blocked, queue.blocked[i]);
  }
  for (std::size_t t = 0; t < sums.size(); ++t) {
    const trace::Track& track = rank.tracks[t];
    std::int64_t events = 0;
    for (Row row = track.begin; row < track.end; ++row)
      events += is_device_work(e.kind[row]) && choice.includes(rank, row);
    if (events == 0) continue;
    StreamSum& sum = sums[t];
    StreamDelays& of = streams.emplace_back();
    of.rank = rank.rank;
    of.device = track.device;
    of.stream = track.stream;
    of.events = events;
    of.launches = sum.launches;
    if (sum.delays.empty()) continue;
    of.queue_empty = report::ratio(sum.empty, std::ssize(sum.delays));
    of.longest = *std::max_element(sum.delays.begin(), sum.delays.end());
    of.median = report::quantile(sum.delays, 0.5);
    of.p90 = report::quantile(sum.delays, 0.9);
    of.depth = sum.depth;
    of.blocked = sum.blocked;
  }
}

struct CallSum {
  StringId name;
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0, events = 0;
};

void add_calls(std::vector<LaunchCalls>& calls, const trace::Trace& trace, const Rank& rank,
               const StepChoice& choice, const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  Column<std::uint32_t> launched(e.size(), 0);
  for (const Row launch : queue.launch) ++launched[launch];
  std::vector<std::uint32_t> slots(trace.strings.size());  // index + 1
  trace::AskedOnce launches(trace.strings, derive::is_launch_call);
  std::vector<CallSum> sums;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != trace::Kind::runtime || !choice.includes(rank, row)) continue;
    const StringId name = e.name[row];
    if (!launches(name) && launched[row] == 0) continue;
    if (slots[name] == 0) {
      sums.push_back({name, {}, 0, 0});
      slots[name] = static_cast<std::uint32_t>(sums.size());
    }
    CallSum& sum = sums[slots[name] - 1];
    sum.lengths.push_back(e.duration(row));
    report::add_to(sum.total, e.duration(row));
    sum.events += launched[row];
  }
  std::sort(sums.begin(), sums.end(), [&](const CallSum& a, const CallSum& b) {
    return a.total != b.total ? a.total > b.total : trace.text(a.name) < trace.text(b.name);
  });
  for (CallSum& sum : sums) {
    const std::int64_t longest = *std::max_element(sum.lengths.begin(), sum.lengths.end());
    calls.push_back({rank.rank, std::string(trace.text(sum.name)), std::ssize(sum.lengths), sum.total,
                     report::quantile(sum.lengths, 0.5), longest, sum.events});
  }
}

void add_other_calls(std::vector<RuntimeCalls>& calls, const trace::Trace& trace, const Rank& rank,
                     const StepChoice& choice, const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  std::vector<bool> launched(e.size());
  for (const Row launch : queue.launch) launched[launch] = true;
  trace::AskedOnce is_other(trace.strings, [](std::string_view name) {
    return !derive::is_launch_call(name) && !derive::is_blocking_call(name) &&
           !derive::is_allocation_call(name);
  });
  std::map<std::string_view, RuntimeCalls> sums;
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != trace::Kind::runtime || launched[row] || !is_other(e.name[row]) ||
        !choice.includes(rank, row))
      continue;
    RuntimeCalls& sum = sums[trace.text(e.name[row])];
    ++sum.count;
    report::add_to(sum.total, e.duration(row));
  }
  const auto first = static_cast<std::ptrdiff_t>(calls.size());
  for (const auto& [name, sum] : sums) calls.push_back({rank.rank, std::string(name), sum.count, sum.total});
  std::stable_sort(calls.begin() + first, calls.end(),
                   [](const RuntimeCalls& a, const RuntimeCalls& b) { return a.total > b.total; });
}

struct GraphSum {
  std::set<Row> launches;
  std::int64_t events = 0, call_time = 0, device_time = 0;
};

void add_graphs(std::vector<GraphLaunches>& graphs, const trace::Trace& trace, const Rank& rank,
                const StepChoice& choice, const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  const trace::ArgReader graph_id(trace, rank, "graph id");
  trace::AskedOnce is_graph(trace.strings, derive::is_graph_launch);
  std::map<std::pair<std::string_view, std::int64_t>, GraphSum> sums;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const StringId name = e.name[queue.launch[i]];
    if (!is_graph(name) || !choice.includes(rank, queue.event[i])) continue;
    GraphSum& sum = sums[{trace.text(name), graph_id.integer_or(queue.event[i], kNoInt)}];
    ++sum.events;
    report::add_to(sum.device_time, e.duration(queue.event[i]));
    if (sum.launches.insert(queue.launch[i]).second)
      report::add_to(sum.call_time, e.duration(queue.launch[i]));
  }
  for (const auto& [key, sum] : sums)
    graphs.push_back({rank.rank, std::string(key.first), key.second, std::ssize(sum.launches), sum.events,
                      sum.call_time, sum.device_time});
}

const report::Sheet<StreamDelays> kStreamSheet{
    "Launch delay and queue by stream",
    Shape::table,
    {report::rank_field<StreamDelays>(&StreamDelays::rank),
     {"device", &StreamDelays::device, Unit::none, Role::key},
     {"stream", &StreamDelays::stream, Unit::none, Role::key},
     {"events", &StreamDelays::events, Unit::count},
     {"launches", &StreamDelays::launches, Unit::count},
     {"delay_p50", &StreamDelays::median, Unit::ns},
     {"delay_p90", &StreamDelays::p90, Unit::ns},
     {"delay_max", &StreamDelays::longest, Unit::ns},
     {"queue_empty", &StreamDelays::queue_empty, Unit::share, Role::share},
     {"max_depth", &StreamDelays::depth, Unit::count},
     {"blocked", &StreamDelays::blocked, Unit::ns}}};

const report::Sheet<LaunchCalls> kCallSheet{
    "Launch calls by name",
    Shape::table,
    {report::rank_field<LaunchCalls>(&LaunchCalls::rank),
     {"name", &LaunchCalls::name},
     {"count", &LaunchCalls::count, Unit::count},
     {"total", &LaunchCalls::total, Unit::ns},
     {"mean", +[](const LaunchCalls& c) { return report::mean(c.total, c.count); }, Unit::ns},
     {"p50", &LaunchCalls::median, Unit::ns},
     {"max", &LaunchCalls::longest, Unit::ns},
     {"events", &LaunchCalls::events, Unit::count}}};

const report::Sheet<GraphLaunches> kGraphSheet{
    "Graph launches",
    Shape::table,
    {report::rank_field<GraphLaunches>(&GraphLaunches::rank),
     {"name", &GraphLaunches::name},
     {"graph", &GraphLaunches::graph, Unit::none, Role::key},
     {"count", &GraphLaunches::count, Unit::count},
     {"events", &GraphLaunches::events, Unit::count},
     {"events_per_launch", +[](const GraphLaunches& g) { return report::ratio(g.events, g.count); },
      Unit::count},
     {"call_time", &GraphLaunches::call_time, Unit::ns},
     {"device_time", &GraphLaunches::device_time, Unit::ns}}};

const report::Sheet<RuntimeCalls> kOtherSheet{"Other calls of the runtime by name",
                                              Shape::table,
                                              {report::rank_field<RuntimeCalls>(&RuntimeCalls::rank),
                                               {"name", &RuntimeCalls::name},
                                               {"count", &RuntimeCalls::count, Unit::count},
                                               {"total", &RuntimeCalls::total, Unit::ns}}};

}  // namespace

Launches launches_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  const StepChoice& choice = derived.choice();
  Launches of;
  std::int64_t unlinked = 0, events = 0;
  for (const Rank& rank : trace.ranks) {
    const LaunchQueue& queue = derived.queue(rank);
    add_streams(of.streams, rank, choice, queue);
    add_calls(of.calls, trace, rank, choice, queue);
    add_stretches(of.stretches, derived, rank);
    add_graphs(of.graphs, trace, rank, choice, queue);
    add_other_calls(of.other_calls, trace, rank, choice, queue);
    add_loops(of.loops, derived, rank);
    for (const Row row : rank.device_rows()) {
      if (!is_device_work(rank.events.kind[row]) || !choice.includes(rank, row)) continue;
      ++events;
      unlinked += rank.events.launch[row] == kNoRow;
    }
  }
  if (events == 0)
    of.notes.emplace_back(kNoDeviceNote);
  else if (unlinked > 0)
    of.notes.push_back(
        fmt::format("{} of {} device events have no recorded launch call and are left out of delays, depths "
                    "and blocked time.",
                    report::format_value(unlinked, Unit::count), report::format_value(events, Unit::count)));
  return of;
}

constinit const About launches_about = {};

report::Report launches(const Derived& derived, const report::Params&) {
  const bool several = derived.trace().several();
  Launches of = launches_of(derived);
  return {"launches",
          {tabulate(kStreamSheet, of.streams, several), tabulate(kCallSheet, of.calls, several),
           tabulate(kStretchSheet, of.stretches, several), tabulate(kGraphSheet, of.graphs, several),
           tabulate(kLoopSheet, of.loops, several), tabulate(kOtherSheet, of.other_calls, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
