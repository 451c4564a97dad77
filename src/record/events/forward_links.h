// Links a backward op to its forward op: the latest earlier forward op with the same sequence number on the
// forward thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepscope::record {

/// Autograd's engine wraps each backward op in an op named this prefix plus the backward op's name. The
/// wrapper has no sequence number of its own; we give it that of the backward op.
inline constexpr std::string_view kEngineOp = "autograd::engine::evaluate_function: ";

struct SequencedEvent {
  std::uint64_t torch_thread;  ///< PyTorch's number of the forward op's thread
  std::int64_t sequence, begin_ns;
  std::uint32_t thread;  ///< kernel id
  bool backward;
};

struct ForwardLink {
  SequencedEvent forward, backward;
};

/// Sorted by begin of the backward op. If a forward op has several backward ops, only the first is linked.
std::vector<ForwardLink> forward_links(std::vector<SequencedEvent> events);

}  // namespace stepscope::record
