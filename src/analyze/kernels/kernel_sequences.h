// Which sequences of kernels an operator launches again and again.
#pragma once

#include <vector>

#include "report/params.h"
#include "report/table.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A call or a device event: what it lies in, how deep, and how many device events lie below it.
struct CallOrKernel {
  trace::Row row;
  std::int32_t parent, depth;  ///< parent: position among the items of the rank; -1: none
  timeline::Time start, length;
  std::int64_t kernels = 0;
  bool device = false;
};

struct CallTree {
  const trace::Rank* rank;
  std::vector<CallOrKernel> items;
};

/// Takes the params "operator" and "least".
report::Report sequences_in(const std::vector<CallTree>& ranks, const trace::Trace& trace,
                            const report::Params& params);

}  // namespace stepscope::analyze
