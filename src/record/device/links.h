// Links from device work to the call that launched it, and to the op around that call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
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

  /// Its middle: its ends may be off by the error between the clocks.
  std::int64_t at_ns() const { return begin_ns + (end_ns - begin_ns) / 2; }
  /// A unique number: correlations have 32 bits and wrap around in a long recording.
  std::int64_t flow() const { return (round << 32) | correlation; }
};

/// A node of a CUDA graph, where it was made.
struct MadeNode {
  std::uint32_t thread;
  std::int64_t ns;
  std::uint64_t node;
  std::uint64_t original;  ///< 0; of a copy: the node that it was copied from
  std::int64_t op = 0;     ///< id of the innermost op around it; 0: none

  std::int64_t at_ns() const { return ns; }
};

class DeviceLinks {
 public:
  void add(const LaunchCall& call) { calls_.push_back(call); }
  void take(std::vector<MadeNode> nodes);
  /// Call it after the last add() and take(): finds the op and annotation around each call, and the op around
  /// each node. Sorts `ranges`.
  void join(std::vector<HostRange>& ranges);
  /// The call that launched the work that began at `begin_ns`; null: it was not recorded.
  LaunchCall* find(std::uint32_t correlation, std::int64_t begin_ns);
  /// Whether nodes were made inside the range, on its thread.
  bool makes_nodes(const HostRange& range) const;
  /// Where the node was made, or what it was copied from; null: not recorded.
  const MadeNode* made(std::uint64_t node) const;
  /// Id of the op that made it; 0: not recorded, or outside of ops.
  std::int64_t maker_of(std::uint64_t node) const {
    const MadeNode* first = made(node);
    return first == nullptr ? 0 : first->op;
  }
  /// Indexed by `LaunchCall::annotation`; filled by join().
  const std::vector<HostRange>& annotations() const { return annotations_; }

 private:
  std::vector<LaunchCall> calls_;  // by correlation, then begin
  std::vector<MadeNode> nodes_;    // by thread, then time
  std::unordered_map<std::uint64_t, std::size_t>
      node_at_;  // index of a node; of its copying, if it is a copy
  std::vector<HostRange> annotations_;
};

}  // namespace stepscope::record
