// Device work of CUDA graphs, and the ops that captured it. A replay runs no ops, so such work has no op
// around its launch.
#pragma once

#include "derive/id_index.h"
#include "trace/trace.h"

namespace stepscope::derive {

class CapturedOps {
 public:
  CapturedOps(const trace::Trace& trace, const trace::Rank& rank);

  /// The op that captured the work; kNoRow: the work is of no graph, or its capture was not recorded.
  trace::Row of(trace::Row row) const;
  /// The op that captured the work, else the one that launched it.
  trace::Row or_launcher(trace::Row row) const {
    const trace::Row op = of(row);
    return op != trace::kNoRow ? op : rank_.events.op[row];
  }

 private:
  const trace::Rank& rank_;
  trace::ArgReader maker_;
  IdIndex ops_;
};

}  // namespace stepscope::derive
