// Where the events of a memory snapshot lie in a recording of the same process: both tell Unix time.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace stepscope::derive {

struct RunMoment {
  const trace::Step* step = nullptr;  ///< of the recording; nullptr outside of its steps
  trace::Row inner = trace::kNoRow;   ///< the innermost host range
  trace::Row op = trace::kNoRow;      ///< the outermost op around it
};

class RunMoments {
 public:
  /// `rank` must outlive this.
  explicit RunMoments(const trace::Rank& rank) : rank_(rank) {}

  /// Whether an event of `device` happened while the rank's ops were recorded.
  bool overlap(const trace::MemoryOfDevice& device) const;
  /// What ran at an event's time. An event names no thread: of the threads that are in an op, it is taken for
  /// the one whose range began last. A snapshot's times are cut to microseconds, so the middle of the
  /// microsecond is looked up. O(log steps + threads x (log rows + nesting)).
  RunMoment at(std::int64_t unix_ns) const;

 private:
  const trace::Rank& rank_;
};

}  // namespace stepscope::derive
