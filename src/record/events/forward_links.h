// Which forward op a backward op belongs to: the latest one that began before it with its thread and sequence
// number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepscope::record {

/// What autograd's engine calls its op around a backward op, before that one's name. It has no sequence
/// number of its own and is given that of the backward op.
inline constexpr std::string_view kEngineOp = "autograd::engine::evaluate_function: ";

struct SequencedEvent {
  std::uint64_t torch_thread;  ///< of the forward op, by PyTorch's number
  std::int64_t sequence, begin_ns;
  std::uint32_t thread;  ///< the kernel's id
  bool backward;
};

struct ForwardLink {
  SequencedEvent forward, backward;
};

/// Links of ops that have one; the first backward op of a forward op counts. By begin of the backward op.
std::vector<ForwardLink> forward_links(std::vector<SequencedEvent> events);

}  // namespace stepscope::record
