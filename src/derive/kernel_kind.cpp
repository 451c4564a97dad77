#include "derive/kernel_kind.h"

#include <algorithm>
#include <initializer_list>

namespace stepscope::derive {
namespace {

constexpr std::size_t kMaxName = 4096;

bool has(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool is_elementwise(std::string_view name) {
  return has(name, {"elementwise_kernel", "elementwise_grid_stride"});
}

/// Copies by PyTorch's element-wise kernel are casts if values are loaded or stored with a cast.
KernelKind elementwise_kind(std::string_view name) {
  if (has(name, {"FillFunctor"})) return KernelKind::fill;
  if (!has(name, {"copy_kernel"})) return KernelKind::pointwise;
  const bool casts =
      has(name, {"LoadWithCast", "StoreWithCast", "float16_copy_kernel", "bfloat16_copy_kernel",
                 "bfloat16tofloat32_copy_kernel", "float16tofloat32_copy_kernel", "float8_copy_kernel"});
  return casts ? KernelKind::cast : KernelKind::copy;
}

}  // namespace

std::string_view name_of(KernelKind kind) {
  constexpr std::string_view kNames[kKernelKinds] = {
      "matrix", "convolution", "attention", "norm",  "softmax",   "pointwise", "cast",     "copy",
      "concat", "reduction",   "layout",    "index", "optimizer", "fill",      "compiled", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

KernelKind kernel_kind(std::string_view kernel_name) {
  using enum KernelKind;
  const std::string_view name = kernel_name.substr(0, kMaxName);
  if (name.starts_with("triton_")) return compiled;
  if (is_elementwise(name)) return elementwise_kind(name);
  if (has(name, {"flash_fwd", "flash_bwd", "flash_fprop", "flash_bprop", "fmha", "_attention_", "sdpa"}))
    return attention;
  if (has(name, {"nchwToNhwc", "nhwcToNchw", "CNHW2NCHW", "NCHW2CNHW", "batched_transpose",
                 "transpose_readWrite", "SubTensorOpWithCast", "im2col", "Im2Col", "Im2d2Col", "Col2Im"}))
    return layout;
  if (has(name, {"CatArray"})) return concat;
  if (has(name, {"convolve", "Convolution", "conv2d", "conv3d", "Conv_", "AsmConv", "naive_conv",
                 "grouped_conv", "winograd", "wgrad", "dgrad", "fprop", "bprop", "igemm_", "implicit_gemm",
                 "scudnn", "conv_depthwise"}))
    return convolution;
  if (has(name, {"gemm", "Gemm", "GEMM", "Cijk_", "nvjet_", "gemv", "splitKreduce", "ReduceSplitK", "cutlass",
                 "bmm_", "dot_kernel", "matmul"}))
    return matrix;
  if (has(name, {"multi_tensor_apply", "FusedAdam", "FusedOptimizer"})) return optimizer;
  if (has(name,
          {"embedding", "index", "Index", "gather", "scatter", "RadixSort", "segmented_sort", "permute_"}))
    return index;
  if (has(name, {"_norm", "Norm", "norm_kernel", "bn_fw", "bn_bw", "RowwiseMoments", "rmsnorm"})) return norm;
  if (has(name, {"softmax", "SoftMax", "Softmax"})) return softmax;
  if (has(name, {"reduce_kernel", "DeviceReduce", "reduction_kernel"})) return reduction;
  if (has(name, {"act_and_mul", "rotary", "dropout", "Dropout", "SubTensorOpWithScalar"})) return pointwise;
  return other;
}

}  // namespace stepscope::derive
