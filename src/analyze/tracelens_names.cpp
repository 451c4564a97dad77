#include "analyze/tracelens_names.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace stepscope::analyze::lens {
namespace {

struct NamedOp {
  std::string_view op;
  std::string_view category;
  std::string_view sheet;  ///< "" for ops without a model
};

constexpr NamedOp kOps[] = {
    {"aten::mm", "GEMM", "GEMM"},
    {"aten::addmm", "GEMM", "GEMM"},
    {"aten::bmm", "GEMM", "GEMM"},
    {"aten::baddbmm", "GEMM", "GEMM"},
    {"aten::_scaled_mm", "GEMM", "GEMM"},
    {"aten::convolution", "CONV_fwd", "CONV_fwd"},
    {"aten::cudnn_convolution", "CONV_fwd", ""},
    {"aten::miopen_convolution", "CONV_fwd", ""},
    {"aten::convolution_backward", "CONV_bwd", "CONV_bwd"},
    {"aten::_scaled_dot_product_flash_attention", "SDPA_fwd", "SDPA_fwd"},
    {"aten::_scaled_dot_product_efficient_attention", "SDPA_fwd", "SDPA_fwd"},
    {"aten::_scaled_dot_product_cudnn_attention", "SDPA_fwd", "SDPA_fwd"},
    {"aten::_efficient_attention_forward", "SDPA_fwd", ""},
    {"flash_attn::_flash_attn_forward", "SDPA_fwd", "SDPA_fwd"},
    {"aten::_scaled_dot_product_flash_attention_backward", "SDPA_bwd", ""},
    {"aten::_scaled_dot_product_efficient_attention_backward", "SDPA_bwd", ""},
    {"aten::_scaled_dot_product_cudnn_attention_backward", "SDPA_bwd", ""},
    {"aten::_efficient_attention_backward", "SDPA_bwd", ""},
    {"flash_attn::_flash_attn_backward", "SDPA_bwd", "SDPA_bwd"},
    {"aten::batch_norm", "NORM_fwd", "Normalization"},
    {"aten::native_batch_norm", "NORM_fwd", "Normalization"},
    {"aten::miopen_batch_norm", "NORM_fwd", "Normalization"},
    {"aten::cudnn_batch_norm", "NORM_fwd", "Normalization"},
    {"aten::layer_norm", "NORM_fwd", "Normalization"},
    {"aten::native_layer_norm", "NORM_fwd", "Normalization"},
    {"aten::native_batch_norm_backward", "NORM_bwd", "Normalization"},
    {"aten::miopen_batch_norm_backward", "NORM_bwd", "Normalization"},
    {"aten::cudnn_batch_norm_backward", "NORM_bwd", "Normalization"},
    {"aten::native_layer_norm_backward", "NORM_bwd", "Normalization"},
    {"aten::copy", "elementwise", "UnaryElementwise"},
    {"aten::copy_", "elementwise", "UnaryElementwise"},
    {"aten::clamp_min", "elementwise", "UnaryElementwise"},
    {"aten::clamp_min_", "elementwise", "UnaryElementwise"},
    {"aten::clamp_max", "elementwise", "UnaryElementwise"},
    {"aten::clamp_max_", "elementwise", "UnaryElementwise"},
    {"aten::sigmoid", "elementwise", "UnaryElementwise"},
    {"aten::rsqrt", "elementwise", "UnaryElementwise"},
    {"aten::silu", "elementwise", "UnaryElementwise"},
    {"aten::neg", "elementwise", "UnaryElementwise"},
    {"aten::pow", "elementwise", "UnaryElementwise"},
    {"aten::div", "elementwise", "BinaryElementwise"},
    {"aten::div_", "elementwise", "BinaryElementwise"},
    {"aten::mul", "elementwise", "BinaryElementwise"},
    {"aten::mul_", "elementwise", "BinaryElementwise"},
    {"aten::add", "elementwise", "BinaryElementwise"},
    {"aten::add_", "elementwise", "BinaryElementwise"},
    {"aten::sigmoid_backward", "elementwise", "BinaryElementwise"},
    {"aten::threshold_backward", "elementwise", "BinaryElementwise"},
    {"aten::sum", "reduce", "Reduce_fwd"},
    {"aten::mean", "reduce", "Reduce_fwd"},
    {"aten::max", "reduce", "Reduce_fwd"},
    {"aten::min", "reduce", "Reduce_fwd"},
    {"aten::norm", "reduce", "Reduce_fwd"},
    {"aten::linalg_norm", "reduce", "Reduce_fwd"},
};

const NamedOp* find(std::string_view op) {
  const auto found = std::ranges::find(kOps, op, &NamedOp::op);
  return found == std::end(kOps) ? nullptr : found;
}

}  // namespace

std::string_view category_of(std::string_view op, std::string_view first_kernel) {
  if (const NamedOp* known = find(op)) return known->category;
  if (op.starts_with("triton")) return "triton";
  if (op == "record_param_comms") return op;
  if (!first_kernel.starts_with("void at::native")) return "other";
  for (const std::string_view kind : {"elementwise", "reduce", "multi_tensor_apply"})
    if (first_kernel.find(kind) != first_kernel.npos) return kind;
  return "other";
}

std::string_view sheet_of(std::string_view op) {
  const NamedOp* known = find(op);
  return known == nullptr ? std::string_view{} : known->sheet;
}

std::string_view backward_sheet_of(std::string_view op) {
  const std::string_view sheet = sheet_of(op);
  return sheet == "Reduce_fwd" ? "Reduce_bwd" : sheet == "SDPA_fwd" ? "SDPA_bwd" : std::string_view{};
}

bool is_communication(std::string_view kernel) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  for (const std::string_view part : {"nccl", "rccl", "cross_device_reduce"})
    if (std::search(kernel.begin(), kernel.end(), part.begin(), part.end(), same) != kernel.end())
      return true;
  return false;
}

}  // namespace stepscope::analyze::lens
