// Which ops could run on matrix units.
#include <algorithm>

#include "derive/roof/matrix_cores.h"
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

constexpr std::int64_t kDepthwiseChannels = 8;  // fewer channels per group leave the tiles empty

enum class Family { none, product, convolution, attention, recurrent };

Family family_of(std::string_view op_name) {
  const auto found = std::ranges::find(op_table(), op_name, &OpFormula::name);
  if (found == op_table().end()) return Family::none;
  const WorkFunction work = found->work;
  for (const WorkFunction product : {&mm_work, &mv_work, &linear_work, &matmul_work, &scaled_mm_work,
                                     &grouped_mm_work, &packed_weight_mm_work, &sparse_mm_work})
    if (work == product) return Family::product;
  for (const WorkFunction convolution : {&conv_work, &conv_backward_work, &conv_old_backward_work,
                                         &conv_backward_input_work, &conv_backward_weight_work})
    if (work == convolution) return Family::convolution;
  if (work == &attention_work) return Family::attention;
  return work == &rnn_work ? Family::recurrent : Family::none;
}

/// The lowest compute capability × 10 at which an element type has matrix units. AMD's 9.x are data-centre
/// parts; 11 and later are RDNA with WMMA.
struct HasUnits {
  DType type;
  int nvidia, amd_9, amd_later;
};
constexpr int kNever = 1'000'000;
constexpr HasUnits kHasUnits[] = {
    {DType::float16, 70, 90, 110},    {DType::int8, 70, 90, 110},       {DType::bfloat16, 80, 90, 110},
    {DType::float32, 80, 90, kNever}, {DType::float64, 80, 90, kNever}, {DType::float8, 89, 94, 120},
    {DType::float4, 100, 95, kNever},
};

bool vendor_has(DType type, const KernelSetting& s) {
  if (s.vendor == Vendor::intel || s.vendor == Vendor::other)
    return type == DType::float16 || type == DType::bfloat16 || type == DType::int8;
  const auto from = std::ranges::find(kHasUnits, type, &HasUnits::type);
  if (from == std::end(kHasUnits) || s.vendor == Vendor::unknown) return false;
  const int capability = s.compute_major * 10 + s.compute_minor;
  if (s.vendor == Vendor::nvidia) return capability >= from->nvidia;
  return capability >= from->amd_later || (s.compute_major == 9 && capability >= from->amd_9);
}

// A product with one row or one column is a matrix-vector product.
bool is_vector_product(std::string_view op_name, const OpArgs& args) {
  const bool added = op_name == "aten::addmm" || op_name == "aten::baddbmm" || op_name == "aten::addbmm" ||
                     op_name == "aten::_addmm_activation";
  if (!args.at(added ? 1 : 0).is_tensor() || !args.at(added ? 2 : 1).is_tensor()) return false;
  const Shape& a = args.at(added ? 1 : 0).shape;
  const Shape& b = args.at(added ? 2 : 1).shape;
  if (a.rank() < 2 || b.rank() < 2) return true;
  const bool transposed_weight = op_name == "aten::linear";
  const std::int64_t columns = transposed_weight ? b.dims[0] : b.dims.back();
  const std::int64_t rows = transposed_weight ? numel(a).value() / std::max<std::int64_t>(1, a.dims.back())
                                              : a.dims[a.dims.size() - 2];
  return rows == 1 || columns == 1;
}

bool is_depthwise(std::string_view op_name, const OpArgs& args) {
  const bool backward = op_name.find("backward") != std::string_view::npos;
  const Shape& weight = args.at(backward ? 2 : 1).shape;
  const Shape& input = args.at(backward ? 1 : 0).shape;
  return weight.rank() >= 3 && input.rank() == weight.rank() && weight.dims[1] < kDepthwiseChannels &&
         weight.dims[1] < input.dims[1];
}

}  // namespace

bool matrix_eligible(std::string_view op_name, const KernelSetting& setting, const OpArgs* args) {
  const Family family = family_of(op_name);
  if (family == Family::none || op_name == "aten::mv" || op_name == "aten::addmv") return false;
  if (!vendor_has(setting.dtype, setting)) return false;
  if (args == nullptr) return true;
  if (family == Family::product && is_vector_product(op_name, *args)) return false;
  return family != Family::convolution || !is_depthwise(op_name, *args);
}

}  // namespace stepscope::derive
