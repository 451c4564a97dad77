#include "analyze/tb/names.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace stepscope::analyze::tb {
namespace {

constexpr std::string_view kCollectives[] = {"broadcast", "reduce", "all_reduce", "all_gather",
                                             "reduce_scatter"};

constexpr std::string_view kTensorCoreKernelParts[] = {"h884",
                                                       "s884",
                                                       "h1688",
                                                       "s1688",
                                                       "hmma",
                                                       "i8816",
                                                       "16816",
                                                       "dgrad_1x1_stride_2x2",
                                                       "first_layer_wgrad_kernel",
                                                       "conv1x1",
                                                       "conv2d_c1_k1",
                                                       "direct_group",
                                                       "xmma_implicit_gemm",
                                                       "xmma_sparse_conv",
                                                       "xmma_warp_specialized_implicit_gemm",
                                                       "xmma_gemm",
                                                       "xmma_sparse_gemm",
                                                       "c1688"};

constexpr std::string_view kTensorCoreAten[] = {"_convolution",
                                                "conv1d",
                                                "conv2d",
                                                "conv3d",
                                                "conv_tbc",
                                                "conv_transpose1d",
                                                "conv_transpose2d",
                                                "conv_transpose3d",
                                                "convolution",
                                                "cudnn_convolution",
                                                "cudnn_convolution_transpose",
                                                "prelu",
                                                "addmm",
                                                "addmv",
                                                "addr",
                                                "matmul",
                                                "mm",
                                                "mv",
                                                "linear",
                                                "addbmm",
                                                "baddbmm",
                                                "bmm",
                                                "chain_matmul",
                                                "linalg_multi_dot",
                                                "_thnn_fused_lstm_cell",
                                                "_thnn_fused_gru_cell",
                                                "lstm_cell",
                                                "gru_cell",
                                                "rnn_tanh_cell",
                                                "rnn_relu_cell",
                                                "addmm_",
                                                "cudnn_convolution_transpose_backward",
                                                "cudnn_convolution_transpose_backward_weight",
                                                "cudnn_convolution_transpose_backward_input",
                                                "cudnn_convolution_backward",
                                                "cudnn_convolution_backward_weight",
                                                "cudnn_convolution_backward_input"};

constexpr std::string_view kTensorCoreNodes[] = {"CudnnConvolutionBackward",
                                                 "BmmBackward0",
                                                 "CudnnConvolutionTransposeBackward",
                                                 "MmBackward",
                                                 "AddmvBackward",
                                                 "MvBackward",
                                                 "AddmmBackward",
                                                 "AddbmmBackward"};

constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function:";

bool is_tensor_core_op(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  return name.starts_with(kAten) ? is_one_of(name.substr(kAten.size()), kTensorCoreAten)
                                 : is_one_of(name, kTensorCoreNodes);
}

bool is_tensor_core_kernel(std::string_view name) {
  return std::any_of(std::begin(kTensorCoreKernelParts), std::end(kTensorCoreKernelParts),
                     [&](std::string_view part) { return has(name, part); });
}

bool is_data_loading(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

bool is_collective_of(std::string_view library, std::string_view name) {
  return name.starts_with(library) && is_one_of(name.substr(library.size()), kCollectives);
}

}  // namespace

std::uint16_t facts_of(std::string_view name) {
  const bool evaluates = name.starts_with(kEvaluate);
  const std::pair<bool, NameFact> facts[] = {
      {is_data_loading(name), kDataLoading},
      {is_collective_of("nccl:", name), kNccl},
      {is_collective_of("gloo:", name), kGloo},
      {name.starts_with("ProfilerStep#"), kProfilerStep},
      {name.starts_with("Optimizer.step"), kOptimizerStep},
      {name.starts_with("Optimizer.") || name == "DataParallel.forward" ||
           name == "DistributedDataParallel.forward",
       kNotListed},
      {is_tensor_core_op(name), kTensorCoreOp},
      {is_tensor_core_kernel(name), kTensorCoreKernel},
      {evaluates, kEvaluateFunction},
      {evaluates && name.ends_with(" torch::autograd::AccumulateGrad"), kAccumulateGrad},
  };
  std::uint16_t bits = 0;
  for (const auto& [holds, fact] : facts)
    if (holds) bits = static_cast<std::uint16_t>(bits | fact);
  return bits;
}

}  // namespace stepscope::analyze::tb
