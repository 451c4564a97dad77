// Recordings whose shapes were recorded in windows, because those of all ops would have cost too much.
#pragma once

#include <unordered_map>

#include "timeline/interval.h"
#include "trace/args.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// What a sum over the calls with shapes is multiplied by to estimate the sum over all calls of the op. Both
/// sums are over the calls that begin in a time span.
class ShapeWindows {
 public:
  /// O(rows) if shapes were recorded in windows, else O(1).
  ShapeWindows(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval span);

  /// Whether the call would have had shapes, had it been in a window.
  bool lacks(trace::Row row) const;
  /// ns of all calls ÷ ns of those with shapes, of the ops with that name. 1 if all have shapes, or none has.
  double time_scale(trace::StringId op) const;
  /// The same of numbers of calls.
  double call_scale(trace::StringId op) const;

 private:
  struct Sum {
    double calls = 0, seen_calls = 0, time = 0, seen_time = 0;
  };
  const trace::Rank& rank_;
  trace::ArgReader dims_;
  std::unordered_map<trace::StringId, Sum> by_op_;  ///< empty: shapes of all ops
};

}  // namespace stepscope::derive
