#include "derive/idle/host_pieces.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "derive/idle/host_doing.h"
#include "derive/idle/loading.h"
#include "derive/kernel_class.h"
#include "derive/thread_role.h"
#include "trace/args.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;
using trace::TrackId;

std::optional<TrackId> main_thread(const trace::Trace& trace, const trace::Rank& rank) {
  const std::vector<ThreadRole> roles = thread_roles(trace, rank);
  const auto main = std::find(roles.begin(), roles.end(), ThreadRole::main);
  if (main == roles.end()) return std::nullopt;
  return static_cast<TrackId>(main - roles.begin());
}

IntervalSet collective_time(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  Column<Interval> spans;
  if (!trace.strings.any(is_host_collective)) return {};
  trace::AskedOnce collective(trace.strings, is_host_collective);
  for (const Row row : rank.host_rows())
    if (is_host_range(e.kind[row]) && collective(e.name[row])) spans.push_back({e.start[row], e.end[row]});
  return IntervalSet::of(std::move(spans));
}

IntervalSet computing_time(const trace::Trace& trace, const trace::Rank& rank, TrackId thread) {
  const EventTable& e = rank.events;
  trace::AskedOnce issues(trace.strings, [](std::string_view name) { return name.starts_with("c10d::"); });
  Column<Interval> spans;
  for (Row row = rank.tracks[thread].begin; row < rank.tracks[thread].end; ++row)
    if (e.kind[row] == Kind::op && !issues(e.name[row])) spans.push_back({e.start[row], e.end[row]});
  return IntervalSet::of(std::move(spans));
}

Column<IdlePiece> host_pieces(const trace::Trace& trace, const trace::Rank& rank, TrackId thread,
                              Interval window) {
  const IntervalSet whole = IntervalSet::of({window}), input = loading_time(trace, rank);
  const IntervalSet loading = intersect(whole, input),
                    waiting = subtract(subtract(intersect(collective_time(trace, rank), whole),
                                                computing_time(trace, rank, thread)),
                                       input);
  CauseOfName causes(trace);
  Column<Labelled> labels = doing_in(subtract(subtract(whole, input), waiting), rank, thread, causes).labels;
  for (const Interval& part : loading.parts()) labels.push_back({part, IdleCause::input});
  for (const Interval& part : waiting.parts()) labels.push_back({part, IdleCause::sync});
  std::sort(labels.begin(), labels.end(),
            [](const Labelled& a, const Labelled& b) { return a.span.begin < b.span.begin; });
  Column<IdlePiece> pieces;
  for (const Labelled& label : labels) pieces.push_back({label.span, label.cause, 0, kNoRow});
  return pieces;
}

namespace {

bool is_module_call(std::string_view frame) {
  return frame.starts_with("nn.Module: ") ||
         (frame.find("torch/nn/modules/module.py(") != std::string_view::npos &&
          frame.ends_with("_call_impl"));
}

/// The main thread's calls of modules that are inside no other, by begin. A sample holds until the next one.
std::vector<Interval> module_calls(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<Interval> calls;
  const auto main = main_thread(trace, rank);
  if (!main) return calls;
  const EventTable& e = rank.events;
  const auto samples = samples_of(trace, rank, *main);
  const trace::Track& track = rank.tracks[samples.value_or(*main)];
  trace::AskedOnce is_call(trace.strings, is_module_call);
  bool goes_on = false;  // no sample since the last call's end
  for (Row row = track.begin; row < track.end; ++row) {
    if (e.kind[row] != Kind::python) continue;
    const bool behind = calls.empty() || e.start[row] >= calls.back().end;
    if (behind && std::exchange(goes_on, false)) calls.back().end = e.start[row];
    if (!behind || !is_call(e.name[row])) continue;
    calls.push_back({e.start[row], e.end[row]});
    goes_on = samples.has_value();
  }
  return calls;
}

/// Adds the begin of the module's call around each time: layers without gradients run before it.
void add_calls(std::vector<Time>& begins, const std::vector<Interval>& calls) {
  const std::size_t count = begins.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto after = std::upper_bound(calls.begin(), calls.end(), begins[i],
                                        [](Time time, const Interval& call) { return time < call.begin; });
    if (after != calls.begin() && (after - 1)->end > begins[i]) begins.push_back((after - 1)->begin);
  }
}

}  // namespace

std::vector<Time> forward_begins(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  const trace::ArgReader sequence(trace, rank, "Sequence number");
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::unordered_map<std::int64_t, Row> makers;  // by sequence number: the last operator to begin
  std::vector<std::int64_t> gone_back;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != Kind::op) continue;
    const std::int64_t number = sequence.integer_or(row, -1);
    if (number < 0) continue;
    if (is_node(e.name[row])) {
      gone_back.push_back(number);
    } else if (e.parent[row] == kNoRow || !is_node(e.name[e.parent[row]])) {
      Row& maker = makers.try_emplace(number, row).first->second;
      if (e.start[row] >= e.start[maker]) maker = row;
    }
  }
  std::vector<Time> begins;
  for (const std::int64_t number : gone_back) {
    const auto maker = makers.find(number);
    if (maker == makers.end()) continue;
    Row called = maker->second;
    for (Row at = called; at != kNoRow; at = e.parent[at])
      if (e.kind[at] == Kind::op) called = at;
    begins.push_back(e.start[called]);
  }
  add_calls(begins, module_calls(trace, rank));
  std::sort(begins.begin(), begins.end());
  return begins;
}

}  // namespace stepscope::derive
