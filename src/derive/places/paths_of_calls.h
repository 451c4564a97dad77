// The line of the program that made each of a thread's calls, from its calls or samples.
#pragma once

#include <vector>

#include "derive/call_paths.h"
#include "derive/places/stack_pieces.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Of samples, few fall into a short call: calls without one are given to the lines of those with one and the
/// same name and shapes, in turn, so that each line gets its share.
class PathsOfCalls {
 public:
  PathsOfCalls() = default;
  /// `calls`: outermost calls of one thread, in order. `paths`: by index in `pieces`, of the same thread.
  PathsOfCalls(const trace::Rank& rank, const trace::ArgReader& shapes, std::vector<trace::Row> calls,
               const Column<StackPiece>& pieces, const std::vector<PathId>& paths);
  /// kNoPath if it is not known. O(log n).
  PathId of(trace::Row call) const;

 private:
  std::vector<trace::Row> calls_;
  std::vector<PathId> paths_;  // by index in calls_
};

}  // namespace stepscope::derive
