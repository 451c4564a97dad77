// What each allocation of a profiler's recording is for, inferred from where it was made and how long it
// lived.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "derive/memory_records.h"

namespace stepscope::derive {

/// Numbered as in torch.profiler's memory timelines.
enum class MemoryUse : std::uint8_t {
  parameter,        ///< allocated outside passes and steps with the shape of a parameter, never freed
  optimizer_state,  ///< allocated in an optimizer's step, still alive after it
  input,            ///< allocated by a data loader, by an operator of the forward pass that takes no tensor,
                    ///< or by a copy before that pass
  temporary,        ///< freed before the end of the outermost operator around its allocation
  activation,       ///< allocated by an operator of the forward pass, still alive after it
  gradient,         ///< allocated in a backward pass, still alive after it
  autograd_detail,  ///< allocated in a backward pass and freed in it
  unknown           ///< allocated outside operators, or by one of the forward pass and still alive two
                    ///< optimizer steps later
};
inline constexpr std::size_t kMemoryUses = 8;
std::string_view name_of(MemoryUse use);

/// By record; `unknown` for frees. `is_parameter`: by record, whether the allocation has a parameter's shape.
/// O(n) in records and host rows.
std::vector<MemoryUse> memory_uses(const trace::Trace& trace, const trace::Rank& rank,
                                   const MemoryRecords& records, const std::vector<bool>& is_parameter);

}  // namespace stepscope::derive
