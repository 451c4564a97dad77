// What a program without a device spends the time of its main thread on.
#include "analyze/derived.h"
#include "analyze/host_work.h"
#include "analyze/idle_places.h"
#include "analyze/list.h"

namespace stepscope::analyze {

using trace::Rank;

constinit const About host_time_about = {
    R"(For ranks that record no device: their operators compute on the CPU, and all that the main thread does between them delays the step.
Empty for ranks with device events, where `idle` says what the host did while a device had nothing to do. The window is the complete steps
(or those of `--step`); without step marks, the whole recording.

**Host time by place**: the main thread's window by the innermost host range that was open (`place`; empty: none). `cause`: `input` while data is loaded, `sync` while a collective runs on the CPU (`gloo:…`) and the thread is in no operator, else
`op`, `python`, `annotation` or `untraced`, as in `idle`. `source`: the line behind the longest of its `count` parts, and `longest` its length; `region`:
the outermost user range, step marks aside. `where`: `between steps` when a step begins inside the time without operators that it is part of; `after loading`
behind a wait for data, until an operator begins that a backward pass goes back through; else `in a step`. The 200 with most `time`, ns.

**Work of operators**: calls that do work of their own, with recorded shapes. `kind`: product (matrix products, convolutions,
attention), element-wise, other; `dtype`: the type they compute in; `time` of their `calls` and the `mean`, ns. `chained`: of runs of k element-wise
calls over as many elements, (k-1)/k of their time: each goes through memory once, fused ones once in all.

**Collectives on the CPU**: per step, the `collectives` that ran (`gloo:…`), the `total` time in which one did, and what of it is `exposed`: the main thread was in no
operator but those that issue collectives. `backward`: time of autograd's nodes there, and `before_first` of it before the first collective began, ns.)",
    {}};

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
