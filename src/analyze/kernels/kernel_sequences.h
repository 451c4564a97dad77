// Which sequences of kernels an operator launches again and again.
#pragma once

#include <vector>

#include "report/params.h"
#include "report/table.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A call or a device event, with its parent, its depth and the number of device events below it.
struct CallOrKernel {
  trace::Row row;
  std::int32_t parent, depth;  ///< parent: index into CallTree::items, -1 for none
  timeline::Time start, length;
  std::int64_t kernels = 0;
  bool device = false;
};

struct CallTree {
  const trace::Rank* rank;
  std::vector<CallOrKernel> items;
};

/// Reads the params "operator" and "least".
report::Report sequences_in(const std::vector<CallTree>& ranks, const trace::Trace& trace,
                            const report::Params& params);

}  // namespace stepscope::analyze
