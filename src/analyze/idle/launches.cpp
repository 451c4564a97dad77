// How far the host was ahead of the device, what the launch calls cost, and where the device waited for
// launches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/derived.h"
#include "analyze/host/loops.h"
#include "analyze/list.h"
#include "derive/idle/idle_cause.h"
#include "derive/idle/launch_queue.h"
#include "derive/innermost.h"
#include "derive/kernel_class.h"
#include "report/statistics.h"
#include "report/units.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using derive::IdleCause;
using derive::IdlePiece;
using derive::LaunchQueue;
using report::kNoInt;
using report::Role;
using report::Shape;
using report::Unit;
using timeline::Interval;
using trace::EventTable;
using trace::kNoRow;
using trace::Rank;
using trace::Row;
using trace::StringId;

/// An unloaded launch starts in 2 to 5 µs; above this the event had to wait for another.
constexpr std::int64_t kQueueWasEmpty = 10'000;
constexpr std::int64_t kMinStretch = 1'000'000;

struct StreamTable {
  explicit StreamTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        stream(table.ints("stream", Unit::none, Role::key)),
        events(table.ints("events", Unit::count)),
        launches(table.ints("launches", Unit::count)),
        median(table.ints("delay_p50", Unit::ns)),
        p90(table.ints("delay_p90", Unit::ns)),
        max(table.ints("delay_max", Unit::ns)),
        empty(table.reals("queue_empty", Unit::share, Role::share)),
        depth(table.ints("max_depth", Unit::count)),
        blocked(table.ints("blocked", Unit::ns)) {}
  report::Table table{"Launch delay and queue by stream", Shape::table, {}};
  RankColumn rank;
  report::Ints &device, &stream, &events, &launches, &median, &p90, &max;
  report::Reals& empty;
  report::Ints &depth, &blocked;
};

struct StreamSum {
  std::vector<std::int64_t> delays;
  std::int64_t empty = 0, blocked = 0, launches = 0;
  std::int32_t depth = 0;
};

void add_streams(StreamTable& out, const Rank& rank, const StepChoice& choice, const LaunchQueue& queue) {
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
    const bool linked = !sum.delays.empty();
    out.rank.add(rank);
    out.device.push_back(track.device);
    out.stream.push_back(track.stream);
    out.events.push_back(events);
    out.launches.push_back(sum.launches);
    out.empty.push_back(report::ratio(sum.empty, static_cast<std::int64_t>(sum.delays.size())));
    out.max.push_back(linked ? *std::max_element(sum.delays.begin(), sum.delays.end()) : kNoInt);
    out.median.push_back(report::quantile(sum.delays, 0.5));
    out.p90.push_back(report::quantile(sum.delays, 0.9));
    out.depth.push_back(linked ? sum.depth : kNoInt);
    out.blocked.push_back(linked ? sum.blocked : kNoInt);
  }
}

struct CallTable {
  explicit CallTable(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)),
        mean(table.ints("mean", Unit::ns)),
        p50(table.ints("p50", Unit::ns)),
        max(table.ints("max", Unit::ns)),
        events(table.ints("events", Unit::count)) {}
  report::Table table{"Launch calls by name", Shape::table, {}};
  RankColumn rank;
  report::Texts& name;
  report::Ints &count, &total, &mean, &p50, &max, &events;
};

/// Launch calls of one name.
struct CallSum {
  StringId name;
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0, events = 0;
};

void add_calls(CallTable& out, const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
               const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  std::vector<std::uint32_t> launched(e.size());
  for (const Row launch : queue.launch) ++launched[launch];
  std::vector<std::uint32_t> slots(trace.strings.size());  // index + 1
  enum : std::uint8_t { kUnasked, kLaunch, kOther };
  std::vector<std::uint8_t> asked(trace.strings.size(), kUnasked);
  std::vector<CallSum> sums;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != trace::Kind::runtime || !choice.includes(rank, row)) continue;
    const StringId name = e.name[row];
    if (asked[name] == kUnasked) asked[name] = derive::is_launch_call(trace.text(name)) ? kLaunch : kOther;
    if (asked[name] != kLaunch && launched[row] == 0) continue;
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
    out.rank.add(rank);
    out.name.emplace_back(trace.text(sum.name));
    out.count.push_back(static_cast<std::int64_t>(sum.lengths.size()));
    out.total.push_back(sum.total);
    out.mean.push_back(report::mean(sum.total, static_cast<std::int64_t>(sum.lengths.size())));
    out.max.push_back(*std::max_element(sum.lengths.begin(), sum.lengths.end()));
    out.p50.push_back(report::quantile(sum.lengths, 0.5));
    out.events.push_back(sum.events);
  }
}

struct QueryTable {
  explicit QueryTable(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        count(table.ints("count", Unit::count)),
        total(table.ints("total", Unit::ns)) {}
  report::Table table{"Other calls of the runtime by name", Shape::table, {}};
  RankColumn rank;
  report::Texts& name;
  report::Ints &count, &total;
};

/// Runtime calls that start no device work, wait for none and allocate nothing.
void add_queries(QueryTable& out, const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                 const LaunchQueue& queue) {
  const EventTable& e = rank.events;
  std::vector<bool> launched(e.size());
  for (const Row launch : queue.launch) launched[launch] = true;
  trace::AskedOnce is_other(trace.strings, [](std::string_view name) {
    return !derive::is_launch_call(name) && !derive::is_blocking_call(name) &&
           !derive::is_allocation_call(name);
  });
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> sums;  // count, total
  for (Row row = 0; row < e.size(); ++row) {
    if (e.kind[row] != trace::Kind::runtime || launched[row] || !is_other(e.name[row]) ||
        !choice.includes(rank, row))
      continue;
    auto& [count, total] = sums[trace.text(e.name[row])];
    ++count;
    report::add_to(total, e.duration(row));
  }
  std::vector<std::pair<std::string_view, std::pair<std::int64_t, std::int64_t>>> order(sums.begin(),
                                                                                        sums.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  for (const auto& [name, sum] : order) {
    out.rank.add(rank);
    out.name.emplace_back(name);
    out.count.push_back(sum.first);
    out.total.push_back(sum.second);
  }
}

struct StretchTable {
  explicit StretchTable(const trace::Trace& trace)
      : rank(table, trace),
        device(table.ints("device", Unit::none, Role::key)),
        start(table.ints("start", Unit::ns, Role::key)),
        length(table.ints("length", Unit::ns)),
        step(table.texts("step", Role::detail)),
        cause(table.texts("cause", Role::value)),
        host(table.texts("host", Role::value)),
        op(table.texts("op", Role::value)),
        thread(table.texts("thread", Role::detail)),
        next(table.texts("next", Role::detail)) {}
  report::Table table{"Host-bound stretches", Shape::table, {}};
  RankColumn rank;
  report::Ints &device, &start, &length;
  report::Texts &step, &cause, &host, &op, &thread, &next;
};

/// A gap of a device up to the call that launched its end.
struct Stretch {
  Interval span;
  IdleCause cause;
  std::int64_t device;
  Row ender;
};

/// Joins the pieces of each gap, but for what was launched already, and keeps the long ones, longest first.
std::vector<Stretch> stretches(const Column<IdlePiece>& pieces,
                               const std::vector<derive::DeviceBusy>& devices) {
  std::vector<Stretch> found;
  for (std::size_t i = 0; i < pieces.size();) {
    std::size_t end = i;
    std::array<std::int64_t, derive::kIdleCauses> time{};
    Interval late{pieces[i].span.begin, pieces[i].span.begin};
    for (; end < pieces.size() && pieces[end].ender == pieces[i].ender &&
           pieces[end].device == pieces[i].device;
         ++end) {
      if (pieces[end].cause == IdleCause::pending) continue;
      late.end = pieces[end].span.end;
      time[static_cast<std::size_t>(pieces[end].cause)] += pieces[end].span.length();
    }
    const auto most = static_cast<std::size_t>(std::max_element(time.begin(), time.end()) - time.begin());
    if (late.length() >= kMinStretch && pieces[i].ender != kNoRow)
      found.push_back({late, static_cast<IdleCause>(most),
                       devices[static_cast<std::size_t>(pieces[i].device)].device, pieces[i].ender});
    i = end;
  }
  std::sort(found.begin(), found.end(), [](const Stretch& a, const Stretch& b) {
    return std::tuple(-a.span.length(), a.span.begin, a.device) <
           std::tuple(-b.span.length(), b.span.begin, b.device);
  });
  return found;
}

/// Threads of the rank that launched device work, busiest first.
std::vector<trace::TrackId> launching_threads(const Rank& rank, const LaunchQueue& queue) {
  std::vector<std::size_t> count(rank.tracks.size());
  for (const Row launch : queue.launch) ++count[rank.events.track[launch]];
  std::vector<trace::TrackId> threads;
  for (trace::TrackId t = 0; t < count.size(); ++t)
    if (count[t] > 0) threads.push_back(t);
  std::stable_sort(threads.begin(), threads.end(),
                   [&](trace::TrackId a, trace::TrackId b) { return count[a] > count[b]; });
  return threads;
}

/// The host range that fills the stretch: the innermost that covers half of it, on the thread that launched
/// next, else on another launching thread.
Row host_range(const Rank& rank, const Stretch& stretch, const std::vector<trace::TrackId>& threads) {
  const Row launch = rank.events.launch[stretch.ender];
  const std::int64_t middle = stretch.span.begin + stretch.span.length() / 2;
  const auto on = [&](trace::TrackId track) {
    const Row inner = derive::innermost_at(rank, rank.tracks[track], middle);
    return derive::covers_half(rank.events, inner, stretch.span.begin, stretch.span.end);
  };
  Row row = launch == kNoRow ? kNoRow : on(rank.events.track[launch]);
  constexpr std::size_t kMaxThreads = 16;
  for (std::size_t i = 0; row == kNoRow && i < std::min(threads.size(), kMaxThreads); ++i)
    row = on(threads[i]);
  return row;
}

void add_stretches(StretchTable& out, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const EventTable& e = rank.events;
  const auto& devices = derived.busy(rank);
  const auto& pieces = derived.idle(rank);
  const auto threads = launching_threads(rank, derived.queue(rank));
  const std::int64_t origin = origin_of(rank);
  for (const Stretch& stretch : stretches(pieces, devices)) {
    const Row host = host_range(rank, stretch, threads);
    Row op = host;
    while (op != kNoRow && e.kind[op] != trace::Kind::op) op = e.parent[op];
    const std::int32_t step = e.step[stretch.ender];
    out.rank.add(rank);
    out.device.push_back(stretch.device);
    out.start.push_back(stretch.span.begin - origin);
    out.length.push_back(stretch.span.length());
    out.step.push_back(step < 0 ? "" : std::to_string(rank.steps[static_cast<std::size_t>(step)].number));
    out.cause.emplace_back(name_of(stretch.cause));
    out.host.emplace_back(host == kNoRow ? "" : trace.name(rank, host));
    out.op.emplace_back(op == kNoRow ? "" : trace.name(rank, op));
    out.thread.push_back(host == kNoRow ? "" : rank.tracks[e.track[host]].tid);
    out.next.emplace_back(trace.name(rank, stretch.ender));
  }
}

struct GraphTable {
  explicit GraphTable(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        graph(table.ints("graph", Unit::none, Role::key)),
        count(table.ints("count", Unit::count)),
        events(table.ints("events", Unit::count)),
        mean(table.reals("events_per_launch", Unit::count)),
        call_time(table.ints("call_time", Unit::ns)),
        device_time(table.ints("device_time", Unit::ns)) {}
  report::Table table{"Graph launches", Shape::table, {}};
  RankColumn rank;
  report::Texts& name;
  report::Ints &graph, &count, &events;
  report::Reals& mean;
  report::Ints &call_time, &device_time;
};

struct GraphSum {
  std::set<Row> launches;
  std::int64_t events = 0, call_time = 0, device_time = 0;
};

void add_graphs(GraphTable& out, const trace::Trace& trace, const Rank& rank, const StepChoice& choice,
                const LaunchQueue& queue) {
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
  for (const auto& [key, sum] : sums) {
    const auto launches = static_cast<std::int64_t>(sum.launches.size());
    out.rank.add(rank);
    out.name.emplace_back(key.first);
    out.graph.push_back(key.second);
    out.count.push_back(launches);
    out.events.push_back(sum.events);
    out.mean.push_back(report::ratio(sum.events, launches));
    out.call_time.push_back(sum.call_time);
    out.device_time.push_back(sum.device_time);
  }
}

}  // namespace

constinit const About launches_about = {};

report::Report launches(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  const StepChoice& choice = derived.choice();
  StreamTable streams(trace);
  CallTable calls(trace);
  StretchTable waits(trace);
  GraphTable graphs(trace);
  QueryTable queries(trace);
  report::Table loops = loop_table(trace);
  report::Report report{"launches", {}, {}};
  std::int64_t unlinked = 0, events = 0;
  for (const Rank& rank : trace.ranks) {
    const LaunchQueue& queue = derived.queue(rank);
    add_streams(streams, rank, choice, queue);
    add_calls(calls, trace, rank, choice, queue);
    add_stretches(waits, derived, rank);
    add_graphs(graphs, trace, rank, choice, queue);
    add_queries(queries, trace, rank, choice, queue);
    add_loops(loops, derived, rank);
    for (const Row row : rank.device_rows()) {
      if (!is_device_work(rank.events.kind[row]) || !choice.includes(rank, row)) continue;
      ++events;
      unlinked += rank.events.launch[row] == kNoRow;
    }
  }
  if (events == 0)
    report.notes.emplace_back(kNoDeviceNote);
  else if (unlinked > 0)
    report.notes.push_back(
        fmt::format("{} of {} device events have no recorded launch call and are left out of delays, depths "
                    "and blocked time.",
                    report::format_value(unlinked, Unit::count), report::format_value(events, Unit::count)));
  for (report::Table* table :
       {&streams.table, &calls.table, &waits.table, &graphs.table, &loops, &queries.table})
    report.tables.push_back(std::move(*table));
  return report;
}

}  // namespace stepscope::analyze
