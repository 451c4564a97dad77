// PyTorch's main memory: an allocator around PyTorch's own, installed once and never removed, since its
// memory may be freed at any time. It tracks only memory that was allocated during a recording.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "collect/recorder.h"
#include "collect/torch/device_memory.h"

namespace stepscope::collect {
namespace {

struct Allocation {
  void* context;  ///< the deleter's argument; null: a free slot
  c10::DeleterFnPtr deleter;
  const void* address;
  std::int64_t bytes;
  const Recorder* recorder;  ///< the recording in which it was allocated
};

std::size_t hash_of(const void* context) {
  return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(context) * 0x9E3779B97F4A7C15ULL) >> 20);
}

/// A spinlock, held for a few instructions only; costs half of a mutex without contention.
class Lock {
 public:
  void lock() {
    while (is_held_.exchange(true, std::memory_order_acquire)) ::sched_yield();
  }
  void unlock() { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

/// Allocations by context: open addressing, at most half full.
class Allocations {
 public:
  bool put(const Allocation& allocation) {
    const std::scoped_lock lock(lock_);
    if (2 * (count_ + 1) > capacity_ && !grow()) return false;
    Allocation& slot = at(allocation.context);
    count_ += slot.context == nullptr;
    slot = allocation;
    return true;
  }

  bool take(const void* context, Allocation& allocation) {
    const std::scoped_lock lock(lock_);
    if (capacity_ == 0) return false;
    Allocation& slot = at(context);
    if (slot.context == nullptr) return false;
    allocation = slot;
    close_gap(static_cast<std::size_t>(&slot - slots_));
    --count_;
    return true;
  }

  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

 private:
  Allocation& at(const void* context) {
    std::size_t i = hash_of(context) & (capacity_ - 1);
    while (slots_[i].context != nullptr && slots_[i].context != context) i = (i + 1) & (capacity_ - 1);
    return slots_[i];
  }

  void close_gap(std::size_t gap) {
    const std::size_t mask = capacity_ - 1;
    for (std::size_t i = (gap + 1) & mask; slots_[i].context != nullptr; i = (i + 1) & mask) {
      const std::size_t home = hash_of(slots_[i].context) & mask;
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      slots_[gap] = slots_[i];
      gap = i;
    }
    slots_[gap].context = nullptr;
  }

  bool grow() {
    const std::size_t before = capacity_, after = before == 0 ? 64 : 2 * before;
    auto* slots = static_cast<Allocation*>(std::calloc(after, sizeof(Allocation)));
    if (slots == nullptr) return false;
    Allocation* const old = std::exchange(slots_, slots);
    capacity_ = after;
    for (std::size_t i = 0; i < before; ++i)
      if (old[i].context != nullptr) at(old[i].context) = old[i];
    std::free(old);
    return true;
  }

  Lock lock_;
  Allocation* slots_ = nullptr;
  std::size_t capacity_ = 0, count_ = 0;
};

constexpr std::size_t kShards = 64;
Allocations* const shards = new Allocations[kShards];  // never freed: deleters run until the process ends
Allocations& shard_of(const void* context) { return shards[(hash_of(context) >> 32) % kShards]; }

/// For fork: a child frees memory of its parent, so no other thread may hold a lock at the fork.
void lock_all() {
  for (std::size_t i = 0; i < kShards; ++i) shards[i].lock();
}
void unlock_all() {
  for (std::size_t i = 0; i < kShards; ++i) shards[i].unlock();
}

void tell(Recorder& recorder, const void* address, std::int64_t bytes, std::uint32_t flags) {
  Thread* thread = thread_of(recorder);
  if (thread == nullptr || !has_room(*thread)) return;
  auto& memory = next<record::Memory>(*thread, record::Type::memory);
  memory.tick = ticks(recorder.clock);
  memory.address = reinterpret_cast<std::uint64_t>(address);
  memory.bytes = bytes;
  memory.value = flags;
  commit(*thread, memory);
}

Recorder* recorder_of_memory() {
  Recorder* recorder = stepscope_recorder.load(std::memory_order_acquire);
  return recorder != nullptr && (recorder->flags & record::kMemory) != 0 ? recorder : nullptr;
}

c10::Allocator* inner = nullptr;        // PyTorch's
c10::DeleterFnPtr inner_raw = nullptr;  // `inner`'s raw deleter

void free_allocation(void* context) {
  Allocation allocation;
  if (!shard_of(context).take(context, allocation)) return inner_raw(context);
  if (Recorder* recorder = recorder_of_memory())
    tell(*recorder, allocation.address, -allocation.bytes,
         allocation.recorder == recorder ? 0 : record::kNotInTotal);
  allocation.deleter(context);
}

void note(c10::DataPtr& data, std::size_t size) {
  Recorder* recorder = recorder_of_memory();
  void* const context = data.get_context();
  if (recorder == nullptr || context == nullptr) return;
  const auto bytes = static_cast<std::int64_t>(size);
  const c10::DeleterFnPtr deleter = data.get_deleter();
  if (deleter == free_allocation || !shard_of(context).put({context, deleter, data.get(), bytes, recorder}))
    return;
  (void)data.compare_exchange_deleter(deleter, free_allocation);
  tell(*recorder, data.get(), bytes, 0);
}

/// Some of these override a function only in some versions of PyTorch: `allocate` lost its const, the last
/// two were added later.
struct Around : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) const { return noted(size); }
  c10::DataPtr allocate(std::size_t size) { return noted(size); }
  c10::DeleterFnPtr raw_deleter() const override { return inner_raw == nullptr ? nullptr : free_allocation; }
  bool is_simple_data_ptr(const c10::DataPtr& data) const { return simple(*inner, data); }
  void copy_data(void* to, const void* from, std::size_t size) const { copy(*inner, to, from, size); }

 private:
  static c10::DataPtr noted(std::size_t size) {
    c10::DataPtr data = inner->allocate(size);
    note(data, size);
    return data;
  }
  template <class A>
  static bool simple(const A& allocator, const c10::DataPtr& data) {
    if constexpr (requires { allocator.is_simple_data_ptr(data); }) return allocator.is_simple_data_ptr(data);
    return data.get() == data.get_context();
  }
  template <class A>
  static void copy(const A& allocator, void* to, const void* from, std::size_t size) {
    if constexpr (requires { allocator.copy_data(to, from, size); })
      allocator.copy_data(to, from, size);
    else
      std::memcpy(to, from, size);
  }
};

Around* around = nullptr;

}  // namespace
}  // namespace stepscope::collect

extern "C" {

/// Installs the allocator, and watches those of devices. Returns 0, or 1 if another CPU allocator takes
/// precedence.
__attribute__((visibility("default"))) int stepscope_torch_memory() {
  using namespace stepscope::collect;
  watch_device_memory();
  if (around != nullptr) return c10::GetCPUAllocator() == around ? 0 : 1;
  inner = c10::GetCPUAllocator();
  inner_raw = inner->raw_deleter();
  auto* ours = new Around;
  c10::SetCPUAllocator(ours);
  if (c10::GetCPUAllocator() != ours) {
    delete ours;
    return 1;
  }
  ::pthread_atfork(lock_all, unlock_all, unlock_all);
  around = ours;
  return 0;
}
}
