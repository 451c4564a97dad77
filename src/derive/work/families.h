// The work functions of every op family, and the table that gives each op its role, function and detail.
// A new op is a row in table.cpp; a new family is a file and its functions here.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "derive/work/tally.h"

namespace stepscope::derive {

/// Sizes after broadcasting `left` with `right`, aligned at the last dimension; empty if two sizes differ and
/// neither is 1.
std::optional<std::vector<std::int64_t>> broadcast(const std::vector<std::int64_t>& left,
                                                   const std::vector<std::int64_t>& right);

using WorkFunction = Work (*)(const Call&);

inline std::int64_t dim(const Arg& arg, std::size_t i) { return arg.shape.dims[i]; }

struct OpFormula {
  std::string_view name;
  WorkRole role;
  WorkFunction work;
  int detail = 0;
};

/// Every op with a known formula or role. A name with a trailing "_" and no row of its own uses its base
/// name's row.
std::span<const OpFormula> op_table();

/// True if torch's FlopCounterMode has a formula for the op.
bool torch_counts(std::string_view op_name);

// For ops whose work is that of the ops they call.
Work decided_below(const Call& call);
// For ops that neither compute nor move data.
Work no_work(const Call& call);

// matmul.cpp
Work mm_work(const Call& call);  // detail: index of the first operand (0 mm, bmm; 1 addmm, baddbmm …)
Work mv_work(const Call& call);  // detail: as mm
Work dot_work(const Call& call);
Work outer_work(const Call& call);  // detail: as mm
Work linear_work(const Call& call);
Work matmul_work(const Call& call);
// matmul_low_precision.cpp
Work scaled_mm_work(const Call& call);
Work grouped_mm_work(const Call& call);        // detail: 1 if the scales are arguments 2 and 3
Work packed_weight_mm_work(const Call& call);  // detail: index of the scales
Work sparse_mm_work(const Call& call);         // detail: a SparseForm

enum SparseForm : int { kSparseCslt, kSparseMm, kSparseAddmm, kSparseLinear };

// conv.cpp; detail: a ConvForm
enum ConvForm : int {
  kConvGeneral,          // aten::convolution and its overrideable forms
  kConvFunctional,       // conv1d, conv2d, conv3d
  kConvTransFunctional,  // conv_transpose1d …
  kConvCudnn,
  kConvCudnnTransposed,
  kConvMiopen,
  kConvMiopenTransposed,
  kConvCudnnRelu,
  kConvCudnnAddRelu,
  kConvSlow,
};
Work conv_work(const Call& call);
Work conv_backward_work(const Call& call);        // convolution_backward
Work conv_old_backward_work(const Call& call);    // cudnn_convolution_backward of torch before 1.11
Work conv_backward_input_work(const Call& call);  // leaves of the old backward
Work conv_backward_weight_work(const Call& call);

// attention.cpp; detail: an AttentionForm, a row of its layouts
enum AttentionForm : int {
  kSdpFlash,
  kSdpFlashCpu,
  kSdpEfficient,
  kSdpCudnn,
  kSdpFused,
  kSdpFlashBackward,
  kSdpFlashCpuBackward,
  kSdpEfficientBackward,
  kSdpCudnnBackward,
  kSdpFusedBackward,
  kFlashForward,
  kFlashBackward,
  kEfficientForward,
  kEfficientBackward,
  kPackageFlashForward,
  kPackageFlashVarlenForward,
  kPackageFlashBackward,
  kPackageFlashVarlenBackward,
  kSdpComposite,
};
Work attention_work(const Call& call);
/// Position of query 0 among the keys when the lengths differ: at key 0, or so that the last query is at the
/// last key.
enum class Alignment { top_left, bottom_right };
/// Number of (query, key) pairs that a mask lets through, per batch and head. `left`, `right`: keys visible
/// before and after the query's own position; negative = unlimited. Causal is right = 0 with left unlimited.
/// Unknown for lengths above 2^40.
Amount visible_pairs(std::int64_t queries, std::int64_t keys, Alignment alignment, std::int64_t left,
                     std::int64_t right);

// norm.cpp
Work layer_norm_work(const Call& call);
Work layer_norm_backward_work(const Call& call);
Work batch_norm_work(const Call& call);  // detail: 1 if the op has no `training` argument and always trains
Work batch_norm_backward_work(const Call& call);  // detail: index of x (1, or 0 for cuDNN and MIOpen)
Work group_norm_work(const Call& call);
Work group_norm_backward_work(const Call& call);
Work rms_norm_work(const Call& call);
Work rms_norm_backward_work(const Call& call);
Work sync_norm_work(const Call& call);  // detail: a SyncNorm
enum SyncNorm : int { kSyncStats, kSyncApply, kSyncBackwardReduce, kSyncBackwardApply };
// loss.cpp
Work softmax_work(const Call& call);
Work softmax_backward_work(const Call& call);
Work nll_loss_work(const Call& call);  // detail: index of x
Work dropout_work(const Call& call);
Work dropout_backward_work(const Call& call);

// elementwise.cpp; detail: elementwise_detail()
constexpr int kToBool = 256;
constexpr int kToFloat = 512;
/// Number of operands, FLOPs per output element, and change of type.
constexpr int elementwise_detail(int operands, int flops, int type_change = 0) {
  return operands + flops * 16 + type_change;
}
Work elementwise_work(const Call& call);
Work copy_in_place_work(const Call& call);
Work clone_work(const Call& call);  // detail: index of a dtype code, 0 for none
Work fill_work(const Call& call);

// reduce.cpp; detail: reduce_detail()
enum ReduceOutput : int { kSameType, kSumType, kBoolType, kIndexType, kValueAndIndex };
constexpr int reduce_detail(int dim_index, int flops, ReduceOutput output) {
  return dim_index + flops * 16 + output * 256;
}
Work reduce_work(const Call& call);
Work scan_work(const Call& call);
Work sort_work(const Call& call);
Work topk_work(const Call& call);

// data_movement.cpp
Work embedding_work(const Call& call);
Work embedding_backward_work(const Call& call);
Work embedding_bag_work(const Call& call);
Work index_select_work(const Call& call);
Work gather_work(const Call& call);
Work index_work(const Call& call);
Work scatter_work(const Call& call);  // detail: 1 when it adds
Work index_put_work(const Call& call);
Work cat_work(const Call& call);
// pool.cpp
Work max_pool_work(const Call& call);
Work max_pool_backward_work(const Call& call);
Work average_pool_work(const Call& call);
Work adaptive_pool_work(const Call& call);
Work upsample_work(const Call& call);  // detail: FLOPs per output element
Work grid_sampler_work(const Call& call);

// rnn.cpp; detail: an RnnForm
enum RnnForm : int { kCudnnRnn, kMiopenRnn, kCudnnRnnBackward, kMiopenRnnBackward };
Work rnn_work(const Call& call);
Work fused_cell_work(const Call& call);  // detail: gates, 4 LSTM, 3 GRU
// optimizer.cpp
Work foreach_work(const Call& call);  // detail: FLOPs per element
Work foreach_norm_work(const Call& call);
Work foreach_zero_work(const Call& call);
Work fused_optimizer_work(const Call& call);  // detail: an OptimizerForm
enum OptimizerForm : int { kFusedAdam, kFusedSgd, kFusedAdagrad };

}  // namespace stepscope::derive
