// Launches by time, for the critical path.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/path/growing_path.h"

namespace stepscope::analyze::path {

/// Length of a stream's queue right after a kernel's launch and right after its start.
struct QueueAround {
  std::int64_t at_launch = -1, at_start = -1;
};
/// By kernel.
std::unordered_map<Position, QueueAround> queues_around(const PathRows& rows);

class Launches {
 public:
  Launches(const PathRows& rows, const std::vector<Position>& inside);

  /// The first kernel that `thread` launched on `stream` after `time`.
  Position after(std::int64_t stream, Time time, const trace::Track& thread) const;
  /// The last kernel launched before the CUDA event that `sync` waits for was recorded, on that event's
  /// stream.
  Position recorded_kernel(Position sync);

 private:
  /// The last kernel launched on `stream` before `time`.
  Position before(std::int64_t stream, Time time) const;

  using InOrder = std::vector<std::pair<Time, Position>>;  // launch time, launched kernel
  const PathRows& rows_;
  std::map<std::int64_t, InOrder> by_stream_;
  std::map<std::tuple<std::int64_t, std::string_view, std::string_view>, InOrder> by_thread_;
  std::unordered_map<std::int64_t, Position> calls_;  // by correlation
};

}  // namespace stepscope::analyze::path
