// What a program without a device spends the time of its main thread on.
#include "analyze/derived.h"
#include "analyze/host/host_work.h"
#include "analyze/idle/idle_places.h"
#include "analyze/list.h"

namespace stepscope::analyze {

using trace::Rank;

constinit const About host_time_about = {};

report::Report host_time(const Derived& derived, const report::Params&) {
  const trace::Trace& trace = derived.trace();
  report::Table places = place_table(trace, "Host time by place"), work = host_work_table(trace),
                collectives = host_collective_table(trace);
  for (const Rank& rank : trace.ranks) {
    if (!derived.busy(rank).empty()) continue;
    std::int64_t steps = 0;
    for (const StepSpan& s : step_spans(rank)) steps += derived.choice().includes(rank.steps[s.index]);
    add_host_places(places, derived, rank, steps);
    add_host_work(work, derived, rank);
    add_host_collectives(collectives, derived, rank);
  }
  report::Report report{"host_time", {}, {}};
  if (places.rows() == 0)
    report.notes.emplace_back(
        "Every rank records a device: `idle` says what the host did while it had nothing to do.");
  for (report::Table* table : {&places, &work, &collectives}) report.tables.push_back(std::move(*table));
  return report;
}

}  // namespace stepscope::analyze
