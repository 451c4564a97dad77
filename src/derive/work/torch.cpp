// FLOPs as torch's own counters count them: FlopCounterMode's registry, and the profiler's with_flops.
#include <algorithm>
#include <optional>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// Names in torch.utils.flop_counter's registry, without overloads.
constexpr std::string_view kCounted[] = {
    "aten::mm",
    "aten::addmm",
    "aten::bmm",
    "aten::baddbmm",
    "aten::_scaled_mm",
    "aten::convolution",
    "aten::_convolution",
    "aten::cudnn_convolution",
    "aten::_slow_conv2d_forward",
    "aten::convolution_overrideable",
    "aten::convolution_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention_backward",
    "aten::_flash_attention_forward",
    "aten::_flash_attention_backward",
    "aten::_efficient_attention_forward",
    "aten::_efficient_attention_backward",
};

// Counted in addition to with_flops: ops whose work no op below them counts.
constexpr std::string_view kCountedToo[] = {
    "aten::conv1d",
    "aten::conv3d",
    "aten::conv_transpose1d",
    "aten::conv_transpose2d",
    "aten::conv_transpose3d",
    "aten::convolution_backward",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_flash_attention_backward",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_efficient_attention_backward",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_cudnn_attention_backward",
};

}  // namespace

bool torch_counts(std::string_view op_name) {
  return std::ranges::find(kCounted, op_name) != std::end(kCounted);
}

std::optional<std::int64_t> with_flops_of(std::string_view op_name, const OpArgs& args) {
  if (op_name == "aten::mul" || op_name == "aten::add") {
    if (!args.at(0).is_tensor()) return std::nullopt;
    const Amount n = numel(args.at(0).shape);
    return n.known() ? std::optional(n.value()) : std::nullopt;
  }
  static constexpr std::string_view kProducts[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                                                   "aten::conv2d"};
  if (std::ranges::find(kProducts, op_name) == std::end(kProducts)) return std::nullopt;
  const Work work = work_of(op_name, args, Convention::exact);
  return work.flops_known ? std::optional(work.matrix_flops) : std::nullopt;
}

std::optional<std::int64_t> profiler_flops_of(std::string_view op_name, const OpArgs& args) {
  if (std::ranges::find(kCountedToo, op_name) == std::end(kCountedToo)) return with_flops_of(op_name, args);
  const Work work = work_of(op_name, args, Convention::exact);
  return work.flops_known ? std::optional(work.matrix_flops) : std::nullopt;
}

}  // namespace stepscope::derive
