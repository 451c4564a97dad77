// Device records: what a GPU did and which call of the program started it, as reported by the vendor's
// library. They are in the segments of the thread that reads the library's buffers, in no order.
#pragma once

#include "record/format.h"

namespace stepscope::record {

/// Device records hold nanoseconds, not ticks.
enum class DeviceClock : std::uint32_t {
  monotonic = 0,  ///< ns of the monotonic clock
  library = 1     ///< ns of the library's own clock; `DeviceClockPair`s map them to the monotonic clock
};

/// Written once per recording, before the first device record.
struct DeviceSession : Record {  // value: DeviceClock
  std::uint32_t library_version;
  std::uint32_t has_thread_ids;  ///< 0: `ApiCall::thread` is not a kernel thread id
};

struct DeviceClockPair : Record {
  std::int64_t library_ns, monotonic_ns;
};

struct DeviceAttributes : Record {  // value: id of its name
  std::uint32_t device, multiprocessors, warp_threads, warps_per_multiprocessor, blocks_per_multiprocessor,
      threads_per_block, registers_per_multiprocessor, registers_per_block, shared_per_multiprocessor,
      shared_per_block, compute_major, compute_minor;
  std::uint64_t memory;  ///< bytes
};

struct DeviceContext : Record {  // value: its number
  std::uint32_t device, reserved;
};

/// Common fields of kernels, copies and fills. A begin or end of 0 was not measured.
struct DeviceWork : Record {
  std::int64_t begin, end;
  std::uint32_t device, context, stream, correlation;
  std::uint64_t graph_node;
  std::uint32_t graph;  ///< 0: not launched by a graph
  std::uint32_t reserved;
};

struct Kernel : DeviceWork {  // value: id of its mangled name
  std::uint32_t grid[3], block[3];
  std::uint32_t static_shared, dynamic_shared;  ///< bytes per block
  std::uint32_t registers;                      ///< per thread
  std::uint32_t pad;
  std::int64_t queued;
};

/// The numbers of `kind`, `from` and `to` are CUPTI's.
struct Memcpy : DeviceWork {  // value: 1: between two devices
  std::uint64_t bytes;
  std::uint8_t kind, from, to, pad;
  std::uint32_t from_device, to_device, from_context, to_context;  ///< only for copies between two devices
  std::uint32_t pad_too;
};

struct Memset : DeviceWork {  // value: the value that the memory was set to
  std::uint64_t bytes;
  std::uint32_t memory_kind, pad;
};

struct ApiCall : Record {  // value: id of its name
  std::int64_t begin, end;
  std::uint32_t thread, correlation, number, returned;
  std::uint32_t is_driver, pad;
};

inline constexpr std::uint32_t kNone = 0xFFFF'FFFF;  ///< no stream, no event

struct Synchronization : Record {  // value: its kind, as CUPTI numbers them
  std::int64_t begin, end;
  std::uint32_t context, stream, event, correlation;
};

struct EventRecord : Record {  // value: the event
  std::uint32_t context, stream, correlation, pad;
};

struct Overhead : Record {  // value: its kind, as CUPTI numbers them
  std::int64_t begin, end;
};

/// Losses since the previous record of this type.
struct DeviceCounts : Record {
  std::uint64_t dropped;    ///< records that the library dropped
  std::uint64_t untimed;    ///< records without a begin or end
  std::uint64_t discarded;  ///< bytes of records that found no buffer
  std::uint64_t unread;     ///< records that were shorter than their type
};

}  // namespace stepscope::record
