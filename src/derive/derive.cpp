#include "derive/derive.h"

#include "derive/stages.h"

namespace stepscope::derive {

void fill(const trace::Trace& trace, trace::Rank& rank) {
  fill_nesting(rank);
  fill_links(trace, rank);
  fill_steps(trace, rank);
  fill_work(trace, rank);
}

}  // namespace stepscope::derive
