// The part of CUPTI's binary interface that we use. Declared here, so the collector is built without NVIDIA's
// headers and works with the library that the program has. Numbers and offsets are the same from CUDA 11.8 to
// 13.5; newer records only grow at their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stepscope::collect::cupti {

using Result = int;
inline constexpr Result kSuccess = 0, kNotInitialized = 15, kNotSupported = 27, kHeldByAnother = 39,
                        kUnknownError = 999;

enum Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpyPeer = 22,
  kCudaEvent = 36,
  kSynchronization = 38
};

enum Domain : std::uint32_t { kDriverApi = 1, kRuntimeApi = 2, kResource = 3 };
/// Callbacks of kResource: a node was added to a graph, or copied with its graph.
inline constexpr std::uint32_t kNodeCreated = 13, kNodeCloned = 20;
/// Attributes of a subscriber.
inline constexpr std::uint32_t kThreadIdType = 21, kTimestampCallback = 22;

inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::uint32_t kSystemThreadIds = 1;

/// Versions of the library: 18 is CUDA 11.8, 23 is 12.5, 27 is 12.9, and then 130000 is 13.0.
inline constexpr std::uint32_t kOldest = 13, kHasGraphs = 18, kHasSingleApis = 23, kMayRefuseBuffers = 27,
                               kHasSharing = 130300;

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid);
using RequestBufferV2 = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records, void*);
using CompleteBufferV2 = void (*)(std::uint8_t* buffer, std::size_t bytes, std::size_t valid, void*);
using TimestampCallback = std::uint64_t (*)();
using Callback = void (*)(void*, std::uint32_t domain, std::uint32_t number, const void* data);

/// Parameters of cuptiSubscribe_v2.
struct SubscriberParams {
  std::size_t bytes;
  const char* name;
  char* holder;
  std::size_t holder_bytes;
  std::uint8_t allow_others;
  std::uint8_t pad[7];
};

/// What callbacks of kResource get, and where `about` points for those of graphs.
struct ResourceData {
  void *context, *stream;
  const struct GraphData* about;
};
struct GraphData {
  void *graph, *original_graph, *node, *original_node;
};

/// The field of a record at `offset`.
template <class T>
T field(const std::uint8_t* record, std::size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

/// Offsets of fields; `bytes`: minimum size of the record.
namespace kernel_at {
inline constexpr std::size_t registers = 6, begin = 16, end = 24, device = 40, context = 44, stream = 48,
                             grid = 52, block = 64, static_shared = 76, dynamic_shared = 80, correlation = 92,
                             name = 104, queued = 120, bytes = 144, graph_node = 144, graph = 156;
}
namespace memcpy_at {
inline constexpr std::size_t kind = 4, from = 5, to = 6, size = 8, begin = 16, end = 24, device = 32,
                             context = 36, stream = 40, correlation = 44, bytes = 64, graph_node = 64,
                             graph = 72;
}
namespace peer_at {
inline constexpr std::size_t from_device = 44, from_context = 48, to_device = 52, to_context = 56,
                             correlation = 60, bytes = 72, graph_node = 72, graph = 80;
}
namespace memset_at {
inline constexpr std::size_t value = 4, size = 8, begin = 16, end = 24, device = 32, context = 36,
                             stream = 40, correlation = 44, memory_kind = 50, bytes = 64, graph_node = 64,
                             graph = 72;
}
namespace api_at {
inline constexpr std::size_t number = 4, begin = 8, end = 16, thread = 28, correlation = 32, returned = 36,
                             bytes = 40;
}
namespace synchronization_at {
inline constexpr std::size_t kind = 4, begin = 8, end = 16, correlation = 24, context = 28, stream = 32,
                             event = 36, bytes = 40;
}
namespace event_at {
inline constexpr std::size_t correlation = 4, context = 8, stream = 12, event = 16, bytes = 24;
}
namespace overhead_at {
inline constexpr std::size_t kind = 4, begin = 24, end = 32, bytes = 40;
}
namespace context_at {
inline constexpr std::size_t id = 4, device = 8, bytes = 16;
}
namespace device_at {
inline constexpr std::size_t memory = 16, warp_threads = 32, multiprocessors = 44, warps = 52, blocks = 56,
                             shared = 60, registers = 64, block_registers = 68, block_shared = 72,
                             block_threads = 76, major = 104, minor = 108, id = 112, name = 136, bytes = 144;
}

}  // namespace stepscope::collect::cupti
