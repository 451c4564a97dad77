// Which call started a device's work, and which op of the program that call stands in.
#pragma once

#include <cstdint>
#include <vector>

#include "record/recording.h"

namespace stepscope::record {

/// An op, or a range that the program marked.
struct HostRange {
  std::uint32_t thread;
  std::int64_t begin_ns, end_ns;
  std::int64_t id;         ///< its External id
  std::int64_t name = -1;  ///< of an annotation: its index; -1: an op
};

/// A call of CUDA.
struct LaunchCall {
  std::uint32_t correlation, thread;
  std::int64_t begin_ns, end_ns;
  std::int64_t op = 0;           ///< id of the innermost op around it; 0: none
  std::int64_t annotation = -1;  ///< index of the innermost annotation around it; -1: none
  std::int64_t round = 0;        ///< how many calls had that correlation before
  bool has_work = false;         ///< something on a device has its correlation

  /// Correlations are 32 bits wide and come round in a long recording.
  std::int64_t flow() const { return (round << 32) | correlation; }
};

class DeviceLinks {
 public:
  void add(const LaunchCall& call) { calls_.push_back(call); }
  /// After the last call: joins them with the ranges, which it sorts.
  void join(std::vector<HostRange>& ranges);
  /// The call that started what began then; null: it was not recorded.
  LaunchCall* find(std::uint32_t correlation, std::int64_t begin_ns);
  /// To which `LaunchCall::annotation` points, after the join.
  const std::vector<HostRange>& annotations() const { return annotations_; }

 private:
  std::vector<LaunchCall> calls_;  // by correlation, then begin
  std::vector<HostRange> annotations_;
};

}  // namespace stepscope::record
