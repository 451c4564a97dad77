#include "analyze/host/host_time.h"

#include "analyze/list.h"

namespace stepscope::analyze {

using trace::Rank;

HostTime host_time_of(const Derived& derived) {
  const trace::Trace& trace = derived.trace();
  HostTime of;
  for (const Rank& rank : trace.ranks) {
    if (!derived.busy(rank).empty()) continue;
    std::int64_t steps = 0;
    for (const StepSpan& s : step_spans(rank)) steps += derived.choice().includes(rank.steps[s.index]);
    add_host_places(of.places, derived, rank, steps);
    add_host_work(of.work, derived, rank);
    add_host_collectives(of.collectives, derived, rank);
  }
  if (of.places.empty())
    of.notes.emplace_back(
        "Every rank has device activity: `idle` shows what the host did while the device was idle.");
  return of;
}

constinit const About host_time_about = {};

report::Report host_time(const Derived& derived, const report::Params&) {
  HostTime of = host_time_of(derived);
  const bool several = derived.trace().several();
  return {"host_time",
          {tabulate(kPlaceSheet, of.places, several, "Host time by place"),
           tabulate(kWorkSheet, of.work, several), tabulate(kHostCollectiveSheet, of.collectives, several)},
          std::move(of.notes)};
}

}  // namespace stepscope::analyze
