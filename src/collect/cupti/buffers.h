// Buffers for CUPTI to fill: one block of memory cut into equal pieces, handed out and returned by single
// atomic operations. CUPTI requests buffers on the program's threads, while it holds its own locks.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace stepscope::collect::cupti {

class Buffers {
 public:
  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  static constexpr unsigned kCount = 31;  // plus one whose content is thrown away: 128 MiB in all
  static constexpr unsigned kScratch = 31;

  /// False: out of memory. Pages become resident when they are first written.
  bool reserve() {
    if (memory_ != nullptr) return true;
    void* mapped = ::mmap(nullptr, (kCount + 1) * kBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    memory_ = static_cast<std::uint8_t*>(mapped);
    return true;
  }

  /// Null: all pieces are in use.
  std::uint8_t* take() {
    std::uint32_t free = free_.load(std::memory_order_relaxed);
    while (free != 0)
      if (free_.compare_exchange_weak(free, free & (free - 1), std::memory_order_acquire,
                                      std::memory_order_relaxed))
        return piece(static_cast<unsigned>(std::countr_zero(free)));
    return nullptr;
  }
  std::uint8_t* scratch() const { return piece(kScratch); }

  void give_back(unsigned index) { free_.fetch_or(1U << index, std::memory_order_release); }

  /// Call it when CUPTI has filled the piece.
  void complete(unsigned index, std::size_t valid) {
    valid_[index] = valid;
    full_.fetch_or(1U << index, std::memory_order_release);
  }

  /// Index of the piece that begins at `buffer`; kCount + 1: no piece does.
  unsigned index_of(const std::uint8_t* buffer) const {
    const auto from = static_cast<std::size_t>(buffer - memory_);
    return buffer >= memory_ && from < (kCount + 1) * kBytes && from % kBytes == 0
               ? static_cast<unsigned>(from / kBytes)
               : kCount + 1;
  }

  /// Calls `read` with each full piece and its bytes, then returns the piece to the pool.
  template <class Read>
  void drain(Read read) {
    for (std::uint32_t full = full_.exchange(0, std::memory_order_acquire); full != 0; full &= full - 1) {
      const auto index = static_cast<unsigned>(std::countr_zero(full));
      read(piece(index), valid_[index]);
      give_back(index);
    }
  }

 private:
  std::uint8_t* piece(unsigned index) const { return memory_ + index * kBytes; }

  std::uint8_t* memory_ = nullptr;
  std::atomic<std::uint32_t> free_{(1U << kCount) - 1}, full_{0};
  std::size_t valid_[kCount] = {};
};

}  // namespace stepscope::collect::cupti
