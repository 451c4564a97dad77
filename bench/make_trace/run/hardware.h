// A device in the simulation: how long work takes on it, and its properties as written in a trace.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "make_trace/options.h"

namespace stepscope::make_trace {

struct Hardware {
  std::string name;
  std::int64_t memory_bytes = 0;
  int major = 0;
  int minor = 0;
  int sms = 0;
  int warp = 32;
  int max_threads_per_sm = 2048;
  int registers_per_sm = 65536;
  int shared_per_sm = 0;
  int shared_optin = 0;
  double matmul_flops_per_ns = 0;  ///< reached, not peak
  double plain_flops_per_ns = 0;   ///< reached by fp32 products on plain cores
  double double_flops_per_ns = 0;  ///< reached by fp64 products on plain cores
  double memory_bytes_per_ns = 0;
  double pinned_bytes_per_ns = 0;
  double pageable_bytes_per_ns = 0;
  double link_bytes_per_ns = 0;           ///< bus bandwidth of a ring, per rank
  std::int64_t kernel_floor_ns = 1800;    ///< the shortest kernel
  std::int64_t launch_latency_ns = 2600;  ///< end of the launch call to start on an idle stream
  std::int64_t stream_gap_ns = 900;       ///< between two kernels that are both queued
  std::int64_t collective_floor_ns = 14000;
  int queue_limit = 1024;  ///< launches the device accepts before the host has to wait
};

const Hardware& hardware_of(VendorKind vendor);

struct KernelShape {
  std::array<int, 3> grid{1, 1, 1};
  std::array<int, 3> block{1, 1, 1};
  int registers = 32;
  int shared_bytes = 0;
};

/// ns of a matrix product of 2·m·n·k operations, never below the time its bytes need: on matrix units for
/// elements of 2 bytes, on plain cores for those of 4 and 8.
std::int64_t matmul_ns(const Hardware& hw, double m, double n, double k, std::int64_t element_bytes);

/// ns to move `bytes` through device memory.
std::int64_t stream_ns(const Hardware& hw, double bytes);

/// ns of a ring all-reduce: 2(n−1)/n of the bytes cross the bus of each rank.
std::int64_t all_reduce_ns(const Hardware& hw, double bytes, int ranks);

/// ns of a message from one rank to another.
std::int64_t message_ns(const Hardware& hw, double bytes);

/// Blocks that fit on one SM by threads, registers and shared memory (block limit 32).
int resident_blocks(const Hardware& hw, const KernelShape& shape);

/// "est. achieved occupancy %" as the profiler computes it: resident threads over the SM's maximum.
int occupancy_percent(const Hardware& hw, const KernelShape& shape);

}  // namespace stepscope::make_trace
