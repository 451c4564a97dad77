#include "derive/derive.h"

#include "base/parallel.h"
#include "derive/stages.h"

namespace stepscope::derive {

void fill(const trace::Trace& trace, trace::Rank& rank, unsigned threads) {
  for (const trace::Track& track : rank.tracks)
    if (track.begin != track.end &&
        (rank.first_start == trace::kNoTime || rank.events.start[track.begin] < rank.first_start))
      rank.first_start = rank.events.start[track.begin];
  parallel_for(2, threads, [&](std::size_t part) {
    if (part == 0) {
      fill_nesting(rank);
    } else {
      fill_launches(trace, rank);
      fill_host_steps(trace, rank);
      fill_work(trace, rank);
    }
  });
  parallel_for(2, threads, [&](std::size_t part) {
    if (part == 0)
      fill_ops(trace, rank);
    else
      fill_device_steps(rank);
  });
}

}  // namespace stepscope::derive
