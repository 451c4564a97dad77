#include "lanes/run.h"

#include <algorithm>

#include "derive/ranks/collective_match.h"

namespace stepscope::lanes {
namespace {

derive::Alignment alignment_of(const trace::Trace& trace) {
  return trace.ranks.size() > 1 ? derive::align_clocks(derive::collectives_of(trace)) : derive::Alignment{};
}

Time end_of(const trace::Trace& trace, const RunClock& clock) {
  Time end = 0;
  for (std::size_t q = 0; q < trace.ranks.size(); ++q) {
    const Column<std::int64_t>& ends = trace.ranks[q].events.end;
    if (!ends.empty()) end = std::max(end, clock.of_rank[q](*std::max_element(ends.begin(), ends.end())));
  }
  return end;
}

}  // namespace

Run::Run(const trace::Trace& its_trace, unsigned threads)
    : trace(its_trace),
      alignment(alignment_of(trace)),
      clock(run_clock(trace, alignment.clocks)),
      names(trace),
      families(trace, names),
      lanes(lanes_of(trace, clock, threads)),
      counters(counters_of(trace, clock, threads)),
      end(end_of(trace, clock)) {}

}  // namespace stepscope::lanes
