// The roofline of one op: the peak that applies, the least time that the device needs for the op's work, and
// what bounds it. Source: the roofline model (Williams, Waterman, Patterson 2009), with a second compute roof
// for vector work.
#pragma once

#include <cstdint>
#include <string_view>

#include "derive/roof/matrix_cores.h"
#include "derive/roof/peaks.h"
#include "derive/work/work.h"

namespace stepscope::derive {

enum class Precision : std::uint8_t {
  unknown,
  fp64,  ///< vector units
  fp64_matrix,
  fp32,         ///< vector units
  fp32_matrix,  ///< AMD's fp32 matrix units
  tf32,
  xf32,
  fp16,
  bf16,
  fp8,
  int8,
  fp4,
};

std::string_view name_of(Precision precision);

/// From the operands' type, corrected by the kernel's name: TF32 and xf32 are visible only there.
Precision precision_of(DType compute, std::string_view kernel_name, const KernelSetting& setting);

/// The FLOP/s at which matrix_flops of that precision can run; 0 if the device has no such unit or its rate
/// is not known.
double matrix_peak(const DevicePeaks& peaks, Precision precision);

enum class Bound : std::uint8_t {
  unknown,
  communication,
  latency,
  compute_matrix,
  compute_vector,
  memory,
  balanced,
};

std::string_view name_of(Bound bound);

struct Roof {
  double seconds = 0;  ///< 0 when unknown
  Bound bound = Bound::unknown;
  double matrix_seconds = 0, vector_seconds = 0, memory_seconds = 0;
  double intensity = 0;  ///< FLOPs per byte; 0 when there are no bytes
};

/// `kernels`: number of the op's device events. `largest_grid`: blocks of its largest kernel, 0 when not
/// recorded. 2:4-sparse work is compared with twice the dense peak. Bound::unknown if the work or a peak that
/// it needs is unknown, or if there is no kernel.
Roof roof_of(const Work& work, Precision precision, const DevicePeaks& peaks, std::int64_t kernels,
             std::int64_t largest_grid);

}  // namespace stepscope::derive
