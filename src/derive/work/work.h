// Work: the FLOPs and bytes of one op, from its name and its recorded arguments.
//
// Units: a multiply-add is 2 FLOPs. Bytes are compulsory traffic: every distinct element of every tensor
// argument is read once and every output element is written once, whatever the kernels really did.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "derive/work/op_args.h"

namespace stepscope::derive {

/// Ours (exact), or as torch's FlopCounterMode counts (attention masks ignored, weight gradients of grouped
/// convolutions × groups, only contractions).
enum class Convention : std::uint8_t { exact, torch };

/// canonical: claims the work of everything below it. composite: claims only if nothing below it does.
enum class WorkRole : std::uint8_t { none, canonical, composite };

struct Work {
  std::int64_t matrix_flops = 0;  ///< contractions: GEMM, convolution, attention, RNN
  std::int64_t vector_flops = 0;  ///< everything else, including bias and epilogue
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  bool flops_known = false;  ///< false: both FLOP fields are 0 and mean nothing
  bool bytes_known = false;  ///< false: both byte fields are 0 and mean nothing
  bool estimated = false;    ///< something that decides the amount was not recorded
  bool sparse = false;  ///< dense-equivalent FLOPs of a 2:4 sparse product: compare with twice the dense peak
  bool bytes_upper_bound = false;   ///< repeated rows or unused weights may not be read
  std::string_view unknown_reason;  ///< static text; empty when both are known
  DType compute = DType::unknown;   ///< operand type that decides the precision

  std::int64_t flops() const { return matrix_flops + vector_flops; }
  std::int64_t bytes() const { return bytes_read + bytes_written; }
};

/// Facts that the op itself does not record but the caller may have from its neighbours.
struct WorkHints {
  /// Spatial output size of a convolution, from grad_output of the linked backward or from the input of the
  /// following normalisation, if batch and channels fit.
  std::span<const std::int64_t> output_spatial = {};
  /// Sizes of the weight for a leaf that lacks them (`cudnn_convolution_backward_weight`).
  std::span<const std::int64_t> weight_dims = {};
  /// Sizes of the input for a leaf that lacks them (`cudnn_convolution_backward_input`).
  std::span<const std::int64_t> input_dims = {};
  /// Element type of recorded tensor lists, whose `Input type` is only "TensorList".
  DType list_dtype = DType::unknown;
};

WorkRole work_role(std::string_view op_name);
/// True for ops that compute each element of the output from the same element of their operands.
bool is_elementwise(std::string_view op_name);

Work work_of(std::string_view op_name, const OpArgs& args, Convention convention = Convention::exact,
             const WorkHints& hints = {});

/// The FLOPs printed by `torch.profiler(with_flops=True)`: mm, addmm, bmm, baddbmm, conv2d, mul, add by exact
/// name.
std::optional<std::int64_t> with_flops_of(std::string_view op_name, const OpArgs& args);
/// The FLOPs for our profiler's `with_flops`: the same, plus convolutions of any kind and their backward, and
/// attention, each at the one op that counts it.
std::optional<std::int64_t> profiler_flops_of(std::string_view op_name, const OpArgs& args);

}  // namespace stepscope::derive
