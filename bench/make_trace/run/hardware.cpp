#include "make_trace/run/hardware.h"

#include <algorithm>
#include <cmath>

namespace stepscope::make_trace {
namespace {

Hardware cuda_device() {
  Hardware hw;
  hw.name = "NVIDIA A100-SXM4-80GB";
  hw.memory_bytes = 85098233856;
  hw.major = 8;
  hw.sms = 108;
  hw.shared_per_sm = 167936;
  hw.shared_optin = 166912;
  hw.matmul_flops_per_ns = 215000;
  hw.plain_flops_per_ns = 17000;
  hw.double_flops_per_ns = 8500;
  hw.memory_bytes_per_ns = 1450;
  hw.pinned_bytes_per_ns = 24;
  hw.pageable_bytes_per_ns = 6.5;
  hw.link_bytes_per_ns = 120;
  return hw;
}

Hardware rocm_device() {
  Hardware hw;
  hw.name = "AMD Instinct MI300X";
  hw.memory_bytes = 206141652992;
  hw.major = 9;
  hw.minor = 4;
  hw.sms = 304;
  hw.warp = 64;
  hw.shared_per_sm = 65536;
  hw.matmul_flops_per_ns = 590000;  // as recorded for large products in bf16
  hw.plain_flops_per_ns = 90000;
  hw.double_flops_per_ns = 45000;
  hw.memory_bytes_per_ns = 3600;
  hw.pinned_bytes_per_ns = 45;
  hw.pageable_bytes_per_ns = 9;
  hw.link_bytes_per_ns = 150;
  hw.launch_latency_ns = 3900;
  hw.stream_gap_ns = 2100;
  hw.kernel_floor_ns = 2200;
  return hw;
}

Hardware xpu_device() {
  Hardware hw;
  hw.name = "Intel(R) Data Center GPU Max 1550";
  hw.memory_bytes = 68719476736;
  hw.sms = 512;
  hw.max_threads_per_sm = 1024;
  hw.shared_per_sm = 131072;
  hw.matmul_flops_per_ns = 210000;
  hw.plain_flops_per_ns = 26000;
  hw.double_flops_per_ns = 13000;
  hw.memory_bytes_per_ns = 1100;
  hw.pinned_bytes_per_ns = 40;
  hw.pageable_bytes_per_ns = 8;
  hw.link_bytes_per_ns = 90;
  hw.launch_latency_ns = 5200;
  hw.stream_gap_ns = 1600;
  hw.kernel_floor_ns = 2600;
  return hw;
}

double threads_of(const KernelShape& shape) {
  return static_cast<double>(shape.block[0]) * shape.block[1] * shape.block[2];
}

}  // namespace

const Hardware& hardware_of(VendorKind vendor) {
  static const Hardware kCuda = cuda_device();
  static const Hardware kRocm = rocm_device();
  static const Hardware kXpu = xpu_device();
  switch (vendor) {
    case VendorKind::rocm:
      return kRocm;
    case VendorKind::xpu:
      return kXpu;
    case VendorKind::cuda:
      break;
  }
  return kCuda;
}

std::int64_t stream_ns(const Hardware& hw, double bytes) {
  const auto ns = static_cast<std::int64_t>(bytes / hw.memory_bytes_per_ns);
  return std::max(ns, hw.kernel_floor_ns);
}

std::int64_t matmul_ns(const Hardware& hw, double m, double n, double k, std::int64_t element_bytes) {
  const double flops_per_ns = element_bytes == 2   ? hw.matmul_flops_per_ns
                              : element_bytes == 4 ? hw.plain_flops_per_ns
                                                   : hw.double_flops_per_ns;
  const auto compute = static_cast<std::int64_t>(2.0 * m * n * k / flops_per_ns);
  const double bytes = (m * k + k * n + m * n) * static_cast<double>(element_bytes);
  return std::max(compute + 2500, stream_ns(hw, bytes));
}

std::int64_t all_reduce_ns(const Hardware& hw, double bytes, int ranks) {
  const double crossing = bytes * 2.0 * (ranks - 1) / ranks;
  return hw.collective_floor_ns + static_cast<std::int64_t>(crossing / hw.link_bytes_per_ns);
}

std::int64_t message_ns(const Hardware& hw, double bytes) {
  return hw.collective_floor_ns + static_cast<std::int64_t>(bytes / hw.link_bytes_per_ns);
}

int resident_blocks(const Hardware& hw, const KernelShape& shape) {
  const int threads = static_cast<int>(threads_of(shape));
  int blocks = std::min(32, hw.max_threads_per_sm / std::max(1, threads));
  blocks = std::min(blocks, hw.registers_per_sm / std::max(1, shape.registers * threads));
  if (shape.shared_bytes > 0) blocks = std::min(blocks, hw.shared_per_sm / shape.shared_bytes);
  return blocks;
}

int occupancy_percent(const Hardware& hw, const KernelShape& shape) {
  const double per_sm = static_cast<double>(shape.grid[0]) * shape.grid[1] * shape.grid[2] / hw.sms;
  const double blocks = std::min(per_sm, static_cast<double>(resident_blocks(hw, shape)));
  return static_cast<int>(std::lround(100.0 * blocks * threads_of(shape) / hw.max_threads_per_sm));
}

}  // namespace stepscope::make_trace
