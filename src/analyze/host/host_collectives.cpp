#include "analyze/host/host_collectives.h"

#include <map>

#include "derive/idle/host_pieces.h"
#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using trace::EventTable;
using trace::Kind;
using trace::Rank;
using trace::Row;

IntervalSet backward_time(const trace::Trace& trace, const Rank& rank, trace::TrackId thread) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_node(trace.strings, derive::is_autograd_node);
  Column<Interval> spans;
  for (Row row = rank.tracks[thread].begin; row < rank.tracks[thread].end; ++row)
    if (e.kind[row] == Kind::op && is_node(e.name[row])) spans.push_back({e.start[row], e.end[row]});
  return IntervalSet::of(std::move(spans));
}

/// Index of the chosen step that contains `time`, -1 without one: threads of collectives have no step marks.
std::int32_t step_at(const Rank& rank, const StepChoice& choice, std::int64_t time) {
  for (std::size_t i = 0; i < rank.steps.size(); ++i)
    if (rank.steps[i].start <= time && time < rank.steps[i].end && choice.includes(rank.steps[i]))
      return static_cast<std::int32_t>(i);
  return -1;
}

}  // namespace

const report::Sheet<HostCollectives> kHostCollectiveSheet{
    "Collectives on the CPU",
    report::Shape::table,
    {report::rank_field<HostCollectives>(&HostCollectives::rank),
     {"step", &HostCollectives::step, Unit::none, report::Tag::of_one_run},
     {"collectives", &HostCollectives::collectives, Unit::count},
     {"total", &HostCollectives::total, Unit::ns},
     {"exposed", &HostCollectives::exposed, Unit::ns},
     {"backward", &HostCollectives::backward, Unit::ns},
     {"before_first", &HostCollectives::before_first, Unit::ns}}};

void add_host_collectives(std::vector<HostCollectives>& steps, const Derived& derived, const Rank& rank) {
  const trace::Trace& trace = derived.trace();
  const auto main = derive::main_thread(trace, rank);
  if (!main || !trace.strings.any(derive::is_host_collective)) return;
  const EventTable& e = rank.events;
  trace::AskedOnce collective(trace.strings, derive::is_host_collective);
  std::map<std::int32_t, Column<Interval>> by_step;
  for (const Row row : rank.host_rows())
    if (is_host_range(e.kind[row]) && collective(e.name[row]))
      if (const std::int32_t step = step_at(rank, derived.choice(), e.start[row]); step >= 0)
        by_step[step].push_back({e.start[row], e.end[row]});
  const IntervalSet computing = derive::computing_time(trace, rank, *main),
                    all_backward = backward_time(trace, rank, *main);
  for (auto& [index, spans] : by_step) {
    const trace::Step& step = rank.steps[static_cast<std::size_t>(index)];
    const auto count = std::ssize(spans);
    const IntervalSet running = IntervalSet::of(std::move(spans));
    const IntervalSet whole = IntervalSet::of({{step.start, step.end}});
    const IntervalSet before = IntervalSet::of({{step.start, running.parts().front().begin}});
    const IntervalSet backward = intersect(all_backward, whole);
    steps.push_back({rank.rank, step.number, count, running.length(),
                     subtract(intersect(running, whole), computing).length(), backward.length(),
                     intersect(backward, before).length()});
  }
}

}  // namespace stepscope::analyze
