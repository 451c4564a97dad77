// Why allocations failed in a memory snapshot, with the arithmetic.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"

namespace stepscope::analyze {

/// Why a request failed: the first that holds.
enum class FailureCause : std::uint8_t {
  fragmentation,  ///< the free bytes of the request's own pool and stream suffice, but not in one piece
  other_stream,   ///< with free bytes of other streams, too
  private_pool,   ///< with free bytes of private pools (CUDA graphs, MemPool), too
  one_request,    ///< the request alone is over a fifth of all memory
  shortage,       ///< tensors fill the memory
};
std::string_view name_of(FailureCause cause);

/// One allocation that failed: what held just before. Bytes.
struct FailedAllocation {
  std::int64_t rank, device;
  std::int64_t event;
  std::int64_t time;     ///< ns from the first event; report::kNoInt without times
  std::int64_t request;  ///< rounded, as the file has it
  std::string place;     ///< whose line asked
  FailureCause cause;
  std::int64_t device_free;     ///< what the device said it had
  std::int64_t obtainable;      ///< of it, for this process: 0 if it would have been enough, but was refused
  std::int64_t reserved, used;  ///< by this process's allocator: segments; blocks in them
  std::int64_t largest_free;    ///< free block that the request could have used: own pool, stream and class
  std::int64_t own_free;        ///< free bytes of its own pool and stream
  std::int64_t stream_free;     ///< of other streams of the pool
  std::int64_t pool_free;       ///< of other pools
  std::int64_t
      pages;  ///< whole free pages of 2 MiB outside of private pools: what expandable segments could return
  std::int64_t missing;  ///< request - obtainable - pages; 0 if they suffice
  bool limited() const { return obtainable < device_free; }
};

struct OutOfMemory {
  std::vector<FailedAllocation> failed;
  std::vector<std::string> notes;
};
OutOfMemory out_of_memory_of(const Derived& derived);

}  // namespace stepscope::analyze
