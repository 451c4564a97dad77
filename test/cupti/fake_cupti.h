// A CUPTI without a GPU: the entry points that a client calls, and hooks by which a test does the work of a
// program. Records have the strides of NVIDIA's headers of the version that it imitates.
#pragma once

#include <cstddef>
#include <cstdint>

struct FakeOptions {
  std::uint32_t version = 28;    ///< 18 (CUDA 11.8), 28 (12.9), 130202 or 130500, the last with several tools
  std::size_t buffer_bytes = 0;  ///< max bytes used of each buffer; 0: all
  bool shuffled = false;         ///< the records of a buffer are in no order
  bool work_first = false;       ///< a call's record comes after the record of the work it started
  bool untimed = false;          ///< work has no begin and end
  bool has_clock = true;         ///< clients may give their own
  std::int64_t clock_ahead = 0;  ///< ns by which the fake's own clock is ahead of the real-time clock
  int subscribe_error = 0;       ///< 39: another tool is subscribed
  const char* holder = "";       ///< that tool's name
  int enable_error = 0;          ///< error when kernels are enabled
  std::uint32_t first_correlation = 1;
  std::uint32_t correlation_mask = 0xFFFF'FFFF;  ///< ids wrap around beyond it
};

/// A CUDA call and the work that it starts.
struct FakeCall {
  const char* name = "cudaLaunchKernel";
  enum Work { none, kernel, copy, peer_copy, fill } work = kernel;
  const char* kernel_name = "_Z4kernPfi";
  std::uint32_t device = 0, context = 1, stream = 7;
  std::int64_t delay = 1000, duration = 5000;  ///< ns, from the end of the call
  std::int64_t call_duration = 2000;           ///< ns
  std::uint32_t grid = 108, block = 128, registers = 32, static_shared = 0, dynamic_shared = 0;
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 1, from = 1, to = 3;
  std::uint32_t to_device = 1;  ///< for a copy between devices
  std::uint32_t works = 1;      ///< number of pieces of work, one after the other
  std::uint32_t graph = 0;
  std::uint64_t node = 0;  ///< of the graph
  bool runs_on = false;    ///< the work has not ended yet
  std::uint32_t wait = 0;  ///< kind of a synchronization record; 0: none
  std::uint32_t event = 0xFFFF'FFFF;
  bool records_event = false;
};

struct FakeCupti {
  void (*reset)(const FakeOptions&);
  /// Returns the call's correlation id.
  std::uint32_t (*call)(const FakeCall&);
  void (*overhead)(std::uint32_t kind, std::int64_t duration);
  /// Adds a node to a graph; `original` > 0: as a copy of that node, when its graph is instantiated.
  void (*node)(std::uint64_t id, std::uint64_t original);
  /// Acts as a thread that runs late: takes a buffer, and later completes it with one record.
  std::uint8_t* (*take_buffer)();
  void (*complete_buffer)(std::uint8_t* buffer);
  std::size_t (*subscribers)();
  std::size_t (*enabled_kinds)();
  std::size_t (*forced_flushes)();
  std::size_t (*finalized)();
  bool (*runtime_call_is_on)(const char* name);
  /// The version whose records it makes.
  std::uint32_t (*version)();
};
