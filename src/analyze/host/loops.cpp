#include "analyze/host/loops.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/question.h"
#include "derive/capture.h"
#include "derive/idle/launch_queue.h"
#include "derive/kernel_class.h"
#include "derive/repeated_ops.h"
#include "derive/source_line.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::RepeatedOps;
using report::Role;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::size_t kMaxLoops = 100;

/// The name of the range around a loop; "" for a step mark, whose name differs in every step.
std::string_view parent_of(const trace::Trace& trace, const Rank& rank, const RepeatedOps& run) {
  if (run.parent == kNoRow) return "";
  const std::string_view name = trace.name(rank, run.parent);
  return derive::is_step_mark(name) ? "" : name;
}

/// The outermost user range at or above a row, excluding step marks.
std::string_view region_of(const trace::Trace& trace, const Rank& rank, Row row) {
  std::string_view region;
  for (Row at = row; at != kNoRow; at = rank.events.parent[at])
    if (rank.events.kind[at] == trace::Kind::annotation && !derive::is_step_mark(trace.name(rank, at)))
      region = trace.name(rank, at);
  return region;
}

struct LoopSum {
  OpLoop loop;
  std::vector<std::int64_t> lengths;
  Row row = kNoRow;
};
using LoopKey = std::tuple<std::string, std::string_view, std::string_view>;  // unit, parent, region

/// What one run of a loop launched.
struct Launched {
  std::vector<std::int64_t> lengths;
  std::int64_t pauses = 0;
};

/// By run: lengths of the device events launched in it, and the sum of the pauses before them. Runs may nest.
std::vector<Launched> launched_by(const Rank& rank, const std::vector<RepeatedOps>& runs,
                                  const std::unordered_map<Row, std::int64_t>& pauses) {
  const trace::EventTable& e = rank.events;
  std::vector<std::pair<Row, Row>> launches;  // launch, event
  for (Row row = 0; row < e.size(); ++row)
    if (is_device_work(e.kind[row]) && e.launch[row] != kNoRow) launches.emplace_back(e.launch[row], row);
  std::sort(launches.begin(), launches.end());
  std::vector<Launched> launched(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto at = std::lower_bound(launches.begin(), launches.end(), std::pair<Row, Row>{runs[i].first, 0});
    const std::int64_t end = e.end[runs[i].last];
    const trace::TrackId track = e.track[runs[i].first];
    for (; at != launches.end() && e.track[at->first] == track && e.start[at->first] < end; ++at) {
      launched[i].lengths.push_back(e.duration(at->second));
      const auto pause = pauses.find(at->second);
      if (pause != pauses.end()) launched[i].pauses += pause->second;
    }
  }
  return launched;
}

/// Whether a piece is idle time in which the host was busy launching or a launch was on its way. Waits,
/// allocations, loading and untraced pauses are not part of a loop's cost.
bool is_launching(const derive::IdlePiece& piece, const std::vector<bool>& prompt) {
  using derive::IdleCause;
  switch (piece.cause) {
    case IdleCause::launch:
    case IdleCause::runtime:
    case IdleCause::op:
    case IdleCause::python:
    case IdleCause::annotation:
      return true;
    case IdleCause::pending:
      return piece.ender != kNoRow && prompt[piece.ender];
    default:
      return false;
  }
}

/// Runs that no other run of the same thread contains.
std::vector<RepeatedOps> outermost(const Rank& rank, std::vector<RepeatedOps> runs) {
  const trace::EventTable& e = rank.events;
  std::sort(runs.begin(), runs.end(), [](const RepeatedOps& a, const RepeatedOps& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  std::vector<RepeatedOps> kept;
  for (const RepeatedOps& run : runs)
    if (kept.empty() || e.track[kept.back().first] != e.track[run.first] ||
        e.start[run.first] >= e.end[kept.back().last])
      kept.push_back(run);
  return kept;
}

}  // namespace

std::string loop_unit(const trace::Trace& trace, const Rank& rank, const RepeatedOps& run) {
  const trace::EventTable& e = rank.events;
  std::string text;
  std::uint32_t seen = 0;
  std::int64_t done = e.start[run.first];
  for (Row row = run.first; row <= run.last && seen < run.unit; ++row) {
    if (e.kind[row] != trace::Kind::op || e.start[row] < done) continue;
    text += (text.empty() ? "" : " ") + std::string(trace.name(rank, row));
    done = e.end[row];
    ++seen;
  }
  return text;
}

const report::Sheet<OpLoop> kLoopSheet{"Loops of operators",
                                       report::Shape::table,
                                       {report::rank_field<OpLoop>(&OpLoop::rank),
                                        {"unit", &OpLoop::unit, Role::value},
                                        {"parent", &OpLoop::parent, Role::detail},
                                        {"source", &OpLoop::source, Role::detail},
                                        {"region", &OpLoop::region, Role::detail},
                                        {"loops", &OpLoop::loops, Unit::count},
                                        {"times", &OpLoop::times, Unit::count},
                                        {"waits", &OpLoop::waits, Unit::count},
                                        {"host", &OpLoop::host, Unit::ns},
                                        {"recording", &OpLoop::recording, Unit::ns, Role::detail},
                                        {"idle", &OpLoop::idle, Unit::ns},
                                        {"pauses", &OpLoop::pauses, Unit::ns},
                                        {"events", &OpLoop::events, Unit::count},
                                        {"device", &OpLoop::device, Unit::ns},
                                        {"p50", &OpLoop::median, Unit::ns}}};

namespace {

/// Idle time of the rank's devices that launching causes, and, for each event that waited in its queue, the
/// pause before it in ns.
struct IdleAround {
  timeline::MeasuredSet launching;
  std::unordered_map<Row, std::int64_t> pauses;
};
IdleAround idle_around(const Derived& derived, const Rank& rank) {
  const std::vector<bool> prompt = derive::prompt_events(derived.queue(rank), rank.events.size());
  Column<Interval> launching;
  std::unordered_map<Row, std::int64_t> pauses;
  for (const derive::IdlePiece& piece : derived.idle(rank))
    if (is_launching(piece, prompt))
      launching.push_back(piece.span);
    else if (piece.cause == derive::IdleCause::pending && piece.ender != kNoRow)
      pauses[piece.ender] += piece.span.length();
  return {timeline::MeasuredSet(IntervalSet::of(std::move(launching))), std::move(pauses)};
}

/// Runs summed by unit, parent and region, most host time first.
std::vector<LoopSum> sums_of(const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const trace::EventTable& e = rank.events;
  std::vector<RepeatedOps> runs;
  for (const RepeatedOps& run : outermost(rank, derive::repeated_ops(trace, rank)))
    if (derived.choice().includes(rank, run.first)) runs.push_back(run);
  if (runs.empty()) return {};
  const IdleAround idle = idle_around(derived, rank);
  const std::vector<Launched> launched = launched_by(rank, runs, idle.pauses);
  const std::vector<derive::Waiting>& waits = derived.waits(rank);
  const bool on_device = !derived.busy(rank).empty();
  const derive::RecordingCost cost = derive::recording_cost(rank);
  std::map<LoopKey, LoopSum> sums;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<std::int64_t>& lengths = launched[i].lengths;
    if (on_device && lengths.empty()) continue;
    const RepeatedOps& run = runs[i];
    const Interval span{e.start[run.first], e.end[run.last]};
    const auto [found, added] = sums.try_emplace(
        {loop_unit(trace, rank, run), parent_of(trace, rank, run), region_of(trace, rank, run.parent)});
    LoopSum& sum = found->second;
    OpLoop& loop = sum.loop;
    if (added) {
      sum.row = run.first;
      std::tie(loop.unit, loop.parent, loop.region) = found->first;
      if (on_device) loop.idle = loop.pauses = 0;
    }
    ++loop.loops;
    loop.times += run.times;
    for (Row row = run.first; row < e.size() && e.track[row] == e.track[run.first] && e.start[row] < span.end;
         ++row) {
      loop.waits += waits[row] == derive::Waiting::work;
      report::add_to(loop.recording, cost.of(e.kind[row]));
    }
    report::add_to(loop.host, span.length());
    if (on_device) report::add_to(loop.idle, idle.launching.length_in(span));
    if (on_device) report::add_to(loop.pauses, launched[i].pauses);
    for (const std::int64_t length : lengths) report::add_to(loop.device, length);
    sum.lengths.insert(sum.lengths.end(), lengths.begin(), lengths.end());
  }
  std::vector<LoopSum> order;
  for (auto& [key, sum] : sums) order.push_back(std::move(sum));
  std::stable_sort(order.begin(), order.end(),
                   [](const LoopSum& a, const LoopSum& b) { return a.loop.host > b.loop.host; });
  if (order.size() > kMaxLoops) order.resize(kMaxLoops);
  return order;
}

}  // namespace

void add_loops(std::vector<OpLoop>& loops, const Derived& derived, const Rank& rank) {
  std::vector<LoopSum> sums = sums_of(derived, rank);
  if (sums.empty()) return;
  derive::SourceLines lines(derived.trace(), rank);
  for (LoopSum& sum : sums) {
    sum.loop.rank = rank.rank;
    sum.loop.source = lines.of(sum.row);
    sum.loop.events = std::ssize(sum.lengths);
    sum.loop.median = report::quantile(sum.lengths, 0.5);
    loops.push_back(std::move(sum.loop));
  }
}

}  // namespace stepscope::analyze
