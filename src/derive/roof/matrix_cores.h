// Whether a kernel computes on matrix units (tensor cores, MFMA, WMMA), by its name; and whether an op could.
#pragma once

#include <cstdint>
#include <string_view>

#include "derive/roof/peaks.h"
#include "derive/work/op_args.h"
#include "trace/trace.h"

namespace stepscope::derive {

enum class MatrixCores : std::uint8_t { no, yes, unknown };
enum class Confidence : std::uint8_t { low, medium, high };

struct MatrixCoreUse {
  MatrixCores cores = MatrixCores::unknown;
  Confidence confidence = Confidence::low;
  int rule = 0;  ///< number of the rule that decided, 1 to 14
};

/// Known facts about where a kernel ran; every field may be left out.
struct KernelSetting {
  Vendor vendor = Vendor::unknown;
  DType dtype = DType::unknown;  ///< of the op's operands
  int compute_major = 0;
  int compute_minor = 0;
};

/// By the first matching rule. Matching is case-sensitive and reads only a name's first 4096 characters.
MatrixCoreUse matrix_cores_of(std::string_view kernel_name, const KernelSetting& setting = {});

/// True if a rule recognised a product or convolution on plain cores, without matrix units.
bool is_plain_matrix_work(const MatrixCoreUse& use);
/// True if a kernel computes in double precision. Only the first type in its name counts; types of scalars
/// follow later.
bool is_double_precision(std::string_view kernel_name);
/// The setting of kernels that ran on a device.
KernelSetting setting_of(const trace::Device& device);

/// True if the op can use matrix units with operands of that type on that device. Without arguments, shapes
/// are assumed suitable. With them, products with one row or column and depthwise convolutions are not
/// eligible.
bool matrix_eligible(std::string_view op_name, const KernelSetting& setting, const OpArgs* args = nullptr);

}  // namespace stepscope::derive
