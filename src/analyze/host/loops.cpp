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

/// The name of the range that holds a loop; "" for a step mark, which has another one in every step.
std::string_view parent_of(const trace::Trace& trace, const Rank& rank, const RepeatedOps& run) {
  if (run.parent == kNoRow) return "";
  const std::string_view name = trace.name(rank, run.parent);
  return derive::is_step_mark(name) ? "" : name;
}

/// The outermost user range above a row, step marks aside.
std::string_view region_of(const trace::Trace& trace, const Rank& rank, Row row) {
  std::string_view region;
  for (Row at = row; at != kNoRow; at = rank.events.parent[at])
    if (rank.events.kind[at] == trace::Kind::annotation && !derive::is_step_mark(trace.name(rank, at)))
      region = trace.name(rank, at);
  return region;
}

struct Sum {
  std::int64_t loops = 0, times = 0, waits = 0, host = 0, recording = 0, idle = 0, pauses = 0, device = 0;
  std::vector<std::int64_t> lengths;
  Row row = kNoRow;
};
using Key = std::tuple<std::string, std::string_view, std::string_view>;  // unit, parent, region

/// What runs of a loop launched.
struct Launched {
  std::vector<std::int64_t> lengths;
  std::int64_t pauses = 0;
};

/// The device events that were launched in each run, and the pauses before them. Runs may nest.
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

/// Idle time in which the host was busy launching or its launch was on the way; waits, allocations, loading
/// and pauses in which nothing is recorded are no part of a loop's cost.
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

/// Runs that no other run of the same thread holds.
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

report::Table loop_table(const trace::Trace& trace) {
  report::Table table{"Loops of operators", report::Shape::table, {}};
  const RankColumn rank(table, trace);
  for (const char* column : {"unit", "parent", "source", "region"})
    table.texts(column, column[0] == 'u' ? Role::value : Role::detail);
  table.ints("loops", Unit::count);
  table.ints("times", Unit::count);
  table.ints("waits", Unit::count);
  table.ints("host", Unit::ns);
  table.ints("recording", Unit::ns, Role::detail);
  table.ints("idle", Unit::ns);
  table.ints("pauses", Unit::ns);
  table.ints("events", Unit::count);
  table.ints("device", Unit::ns);
  table.ints("p50", Unit::ns);
  return table;
}

void add_loops(report::Table& table, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const trace::EventTable& e = rank.events;
  std::vector<RepeatedOps> runs;
  for (const RepeatedOps& run : outermost(rank, derive::repeated_ops(trace, rank)))
    if (derived.choice().includes(rank, run.first)) runs.push_back(run);
  if (runs.empty()) return;
  const std::vector<bool> prompt = derive::prompt_events(derived.queue(rank), e.size());
  Column<Interval> late;
  std::unordered_map<Row, std::int64_t> pauses;
  for (const derive::IdlePiece& piece : derived.idle(rank))
    if (is_launching(piece, prompt))
      late.push_back(piece.span);
    else if (piece.cause == derive::IdleCause::pending && piece.ender != kNoRow)
      pauses[piece.ender] += piece.span.length();
  const timeline::MeasuredSet idle(IntervalSet::of(std::move(late)));
  const std::vector<Launched> launched = launched_by(rank, runs, pauses);
  const std::vector<derive::Waiting>& waits = derived.waits(rank);
  const bool on_device = !derived.busy(rank).empty();
  const derive::RecordingCost cost = derive::recording_cost(rank);
  std::map<Key, Sum> sums;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<std::int64_t>& lengths = launched[i].lengths;
    if (on_device && lengths.empty()) continue;
    const RepeatedOps& run = runs[i];
    Sum& sum =
        sums[{loop_unit(trace, rank, run), parent_of(trace, rank, run), region_of(trace, rank, run.parent)}];
    const Interval span{e.start[run.first], e.end[run.last]};
    ++sum.loops;
    sum.times += run.times;
    for (Row row = run.first; row < e.size() && e.track[row] == e.track[run.first] && e.start[row] < span.end;
         ++row) {
      sum.waits += waits[row] == derive::Waiting::work;
      report::add_to(sum.recording, cost.of(e.kind[row]));
    }
    report::add_to(sum.host, span.length());
    report::add_to(sum.idle, idle.length_in(span));
    report::add_to(sum.pauses, launched[i].pauses);
    for (const std::int64_t length : lengths) report::add_to(sum.device, length);
    sum.lengths.insert(sum.lengths.end(), lengths.begin(), lengths.end());
    if (sum.row == kNoRow) sum.row = run.first;
  }
  std::vector<std::pair<const Key, Sum>*> order;
  for (auto& entry : sums) order.push_back(&entry);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.host > b->second.host; });
  if (order.size() > kMaxLoops) order.resize(kMaxLoops);
  derive::SourceLines lines(trace, rank);
  const auto values = [&](std::string_view name) -> report::Column& {
    return *std::find_if(table.columns.begin(), table.columns.end(),
                         [&](const report::Column& c) { return c.name == name; });
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    std::get<report::Texts>(values(name).values).emplace_back(value);
  };
  const auto number = [&](std::string_view name, std::int64_t value) {
    std::get<report::Ints>(values(name).values).push_back(value);
  };
  for (auto* entry : order) {
    Sum& sum = entry->second;
    if (trace.several()) number("rank", rank.rank);
    text("unit", std::get<0>(entry->first));
    text("parent", std::get<1>(entry->first));
    text("source", lines.of(sum.row));
    text("region", std::get<2>(entry->first));
    number("loops", sum.loops);
    number("times", sum.times);
    number("waits", sum.waits);
    number("host", sum.host);
    number("recording", sum.recording);
    number("idle", on_device ? sum.idle : report::kNoInt);
    number("pauses", on_device ? sum.pauses : report::kNoInt);
    number("events", static_cast<std::int64_t>(sum.lengths.size()));
    number("device", sum.device);
    number("p50", report::quantile(sum.lengths, 0.5));
  }
}

}  // namespace stepscope::analyze
