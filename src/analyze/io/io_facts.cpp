#include "analyze/io/io_facts.h"

#include <algorithm>
#include <functional>

#include "derive/thread_role.h"

namespace stepscope::analyze {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using trace::Kind;
using trace::Row;

std::string main_process_of(const trace::Trace& trace, const trace::Rank& rank) {
  const auto roles = derive::thread_roles(trace, rank);
  for (std::size_t track = 0; track < roles.size(); ++track)
    if (roles[track] == derive::ThreadRole::main) return rank.tracks[track].pid;
  return "";
}

IntervalSet operators_of(const trace::Rank& rank, const std::string& process) {
  Column<Interval> spans;
  const trace::EventTable& e = rank.events;
  for (const Row row : rank.host_rows())
    if (e.kind[row] == Kind::op && rank.tracks[e.track[row]].pid == process)
      spans.push_back({e.start[row], e.end[row]});
  return IntervalSet::of(std::move(spans));
}

RankIo made(const Derived& derived, const trace::Rank& rank) {
  RankIo of;
  of.calls = derive::io_calls(derived.trace(), rank);
  of.library_calls = derive::library_calls(derived.trace(), rank, of.calls);
  of.window = window_of(rank, derived.choice());
  const auto begins_in_window = [&](const auto& call) {
    const timeline::Time begin = rank.events.start[call.row];
    return begin >= of.window.begin && begin <= of.window.end;
  };
  std::erase_if(of.library_calls, std::not_fn(begins_in_window));
  const auto first_outside = std::stable_partition(of.calls.begin(), of.calls.end(), begins_in_window);
  of.outside.assign(first_outside, of.calls.end());
  of.calls.erase(first_outside, of.calls.end());
  if (of.calls.empty()) return of;
  of.main_process = main_process_of(derived.trace(), rank);
  of.compute = derive::busy_time(derived.busy(rank));
  of.has_device = !of.compute.empty();
  if (!of.has_device) of.compute = operators_of(rank, of.main_process);
  of.has_compute = !of.compute.empty();
  return of;
}

}  // namespace

const RankIo& io_of(const Derived& derived, const trace::Rank& rank) {
  const auto number = static_cast<int>(&rank - derived.trace().ranks.data());
  return derived.kept<RankIo>(number, [&] { return made(derived, rank); });
}

bool has_io(const Derived& derived, std::vector<std::string>& notes) {
  for (const trace::Rank& rank : derived.trace().ranks)
    if (!io_of(derived, rank).empty()) return true;
  const bool outside = std::ranges::any_of(
      derived.trace().ranks, [&](const trace::Rank& rank) { return !io_of(derived, rank).outside.empty(); });
  notes.emplace_back(outside ? "No call on a file begins in these steps."
                             : "No file I/O is recorded. `stepscope record --io -- python train.py` records "
                               "it; DFTracer's files have it, too.");
  return false;
}

std::int64_t step_number(const trace::Rank& rank, trace::Row row) {
  const std::int32_t step = rank.events.step[row];
  return step < 0 || !rank.steps[static_cast<std::size_t>(step)].counts()
             ? report::kNoInt
             : rank.steps[static_cast<std::size_t>(step)].number;
}

std::string process_of(const trace::Track& track) {
  return track.process.empty() ? track.pid : track.process + " (" + track.pid + ")";
}

}  // namespace stepscope::analyze
