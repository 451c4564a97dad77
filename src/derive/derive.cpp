#include "derive/derive.h"

#include "base/parallel.h"
#include "derive/stages.h"

namespace stepscope::derive {

void fill(const trace::Trace& trace, trace::Rank& rank, unsigned threads) {
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
