// Links from device work to the call that launched it, and to the op around that call.
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
  std::int64_t name = -1;  ///< index of an annotation; -1: an op
};

/// A CUDA call.
struct LaunchCall {
  std::uint32_t correlation, thread;
  std::int64_t begin_ns, end_ns;
  std::int64_t op = 0;           ///< id of the innermost op around it; 0: none
  std::int64_t annotation = -1;  ///< index of the innermost annotation around it; -1: none
  std::int64_t round = 0;        ///< number of earlier calls with the same correlation
  bool has_work = false;         ///< some device record has its correlation

  /// A unique number: correlations have 32 bits and wrap around in a long recording.
  std::int64_t flow() const { return (round << 32) | correlation; }
};

class DeviceLinks {
 public:
  void add(const LaunchCall& call) { calls_.push_back(call); }
  /// Call it after the last add(): finds the op and annotation around each call. Sorts `ranges`.
  void join(std::vector<HostRange>& ranges);
  /// The call that launched the work that began at `begin_ns`; null: it was not recorded.
  LaunchCall* find(std::uint32_t correlation, std::int64_t begin_ns);
  /// Indexed by `LaunchCall::annotation`; filled by join().
  const std::vector<HostRange>& annotations() const { return annotations_; }

 private:
  std::vector<LaunchCall> calls_;  // by correlation, then begin
  std::vector<HostRange> annotations_;
};

}  // namespace stepscope::record
