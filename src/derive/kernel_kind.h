// What kind of work a compute kernel does, by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::derive {

enum class KernelKind : std::uint8_t {
  matrix,       ///< products of matrices
  convolution,  ///< convolutions, their transforms included
  attention,    ///< fused attention
  norm,         ///< normalisation in one kernel
  softmax,
  pointwise,  ///< element by element, not fused by a compiler
  cast,       ///< element by element from one type to another
  copy,       ///< copies by a kernel: strided ones, as .contiguous() makes
  concat,     ///< of several tensors into one
  reduction,
  layout,     ///< between channels first and last, of tensors as convolutions see them
  index,      ///< gathers, scatters, embeddings, sorts
  optimizer,  ///< multi-tensor updates
  fill,
  compiled,  ///< made by Inductor or another Triton compiler
  other,     ///< the name does not tell
};
inline constexpr std::size_t kKernelKinds = 16;

std::string_view name_of(KernelKind kind);

/// The first rule that matches; only the first 4096 characters are looked at.
KernelKind kernel_kind(std::string_view kernel_name);

}  // namespace stepscope::derive
