#include "derive/roof/roof.h"

#include <algorithm>

#include "base/text.h"

namespace stepscope::derive {
namespace {

constexpr double kLatencySeconds = 2e-6;  // per kernel launched
constexpr double kRidgeWidth = 1.1;
constexpr double kSparseSpeedup = 2;

bool is_matrix_kernel(std::string_view kernel, const KernelSetting& setting) {
  return matrix_cores_of(kernel, setting).cores == MatrixCores::yes;
}

Precision fp32_precision(std::string_view kernel, const KernelSetting& setting) {
  if (has(kernel, "xf32")) return Precision::xf32;
  if (has(kernel, "tf32") || has(kernel, "tfloat32")) return Precision::tf32;
  if (setting.vendor == Vendor::nvidia && setting.compute_major >= 8 && has(kernel, "s1688"))
    return Precision::tf32;
  if (setting.vendor == Vendor::amd && is_matrix_kernel(kernel, setting)) return Precision::fp32_matrix;
  return Precision::fp32;
}

Precision fp64_precision(std::string_view kernel, const KernelSetting& setting) {
  if (has(kernel, "dmma") || has(kernel, "d884")) return Precision::fp64_matrix;
  if (setting.vendor == Vendor::amd && is_matrix_kernel(kernel, setting)) return Precision::fp64_matrix;
  return Precision::fp64;
}

// Seconds for `amount` at `rate`; negative when there is work but no rate.
double seconds_at(double amount, double rate) {
  if (amount <= 0) return 0;
  return rate > 0 ? amount / rate : -1;
}

Bound bound_of(const Roof& roof, double seconds, std::int64_t kernels, std::int64_t grid,
               int multiprocessors) {
  const double compute = std::max(roof.matrix_seconds, roof.vector_seconds);
  if (seconds < kLatencySeconds * static_cast<double>(kernels)) return Bound::latency;
  if (grid > 0 && grid < multiprocessors) return Bound::latency;
  if (compute >= kRidgeWidth * roof.memory_seconds)
    return roof.matrix_seconds >= roof.vector_seconds ? Bound::compute_matrix : Bound::compute_vector;
  return roof.memory_seconds >= kRidgeWidth * compute ? Bound::memory : Bound::balanced;
}

}  // namespace

std::string_view name_of(Precision precision) {
  static constexpr std::string_view kNames[] = {"unknown",     "fp64", "fp64 matrix", "fp32",
                                                "fp32 matrix", "tf32", "xf32",        "fp16",
                                                "bf16",        "fp8",  "int8",        "fp4"};
  return kNames[static_cast<std::size_t>(precision)];
}

std::string_view name_of(Bound bound) {
  static constexpr std::string_view kNames[] = {
      "unknown", "communication", "latency", "compute (matrix)", "compute (vector)", "memory", "balanced"};
  return kNames[static_cast<std::size_t>(bound)];
}

Precision precision_of(DType compute, std::string_view kernel_name, const KernelSetting& setting) {
  switch (compute) {
    case DType::float64:
    case DType::complex128:
      return fp64_precision(kernel_name, setting);
    case DType::float32:
    case DType::complex64:
      return fp32_precision(kernel_name, setting);
    case DType::float16:
    case DType::complex32:
      return Precision::fp16;
    case DType::bfloat16:
      return Precision::bf16;
    case DType::float8:
      return Precision::fp8;
    case DType::float4:
      return Precision::fp4;
    case DType::int8:
    case DType::uint8:
      return Precision::int8;
    default:
      return Precision::unknown;
  }
}

double matrix_peak(const DevicePeaks& peaks, Precision precision) {
  using P = DevicePeaks;
  static constexpr double P::* kRates[] = {nullptr,   &P::fp64,  &P::fp64_matrix, &P::fp32,
                                           &P::mat32, &P::mat32, &P::xf32,        &P::fp16,
                                           &P::bf16,  &P::fp8,   &P::int8,        &P::fp4};
  if (precision == Precision::unknown) return 0;
  const double rate = peaks.*kRates[static_cast<std::size_t>(precision)];
  return precision == Precision::fp64_matrix && rate <= 0 ? peaks.fp64 : rate;
}

Roof roof_of(const Work& work, Precision precision, const DevicePeaks& peaks, std::int64_t kernels,
             std::int64_t largest_grid) {
  Roof roof;
  if (!work.flops_known || !work.bytes_known || kernels < 1) return roof;
  const double matrix_rate = matrix_peak(peaks, precision) * (work.sparse ? kSparseSpeedup : 1);
  // ATen computes types of up to 32 bit in fp32.
  const bool is_double = work.compute == DType::float64 || work.compute == DType::complex128;
  const double vector_rate = is_double ? peaks.fp64 : peaks.fp32;
  const double bytes = static_cast<double>(work.bytes_read) + static_cast<double>(work.bytes_written);
  const double flops = static_cast<double>(work.matrix_flops) + static_cast<double>(work.vector_flops);
  if (bytes <= 0 && flops <= 0) return roof;
  const double matrix = seconds_at(static_cast<double>(work.matrix_flops), matrix_rate);
  const double vector = seconds_at(static_cast<double>(work.vector_flops), vector_rate);
  const double memory = seconds_at(bytes, peaks.bandwidth);
  if (matrix < 0 || vector < 0 || memory < 0) return roof;
  roof.matrix_seconds = matrix;
  roof.vector_seconds = vector;
  roof.memory_seconds = memory;
  roof.seconds = std::max({matrix, vector, memory});
  if (bytes > 0) roof.intensity = flops / bytes;
  roof.bound = bound_of(roof, roof.seconds, kernels, largest_grid, peaks.multiprocessors);
  return roof;
}

}  // namespace stepscope::derive
