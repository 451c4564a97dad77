// Memory for columns of millions of rows.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace stepscope {

/// From this size on, memory comes directly from the operating system, on large pages if available (a page
/// fault per 4 KiB costs as much as filling them), and is returned to it when freed.
inline constexpr std::size_t kMappedFrom = std::size_t{1} << 21;
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes) noexcept;

/// Makes the C library, if it is glibc, keep freed memory in the process, so that the next analysis does not
/// wait for the kernel to zero the same pages again.
void keep_freed_memory();

template <class T>
struct ColumnAllocator {
  using value_type = T;
  ColumnAllocator() = default;
  template <class U>
  ColumnAllocator(const ColumnAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes < kMappedFrom ? ::operator new(bytes) : map_memory(bytes));
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kMappedFrom)
      ::operator delete(memory);
    else
      unmap_memory(memory, bytes);
  }
  /// Elements of trivial type are left uninitialized without a value: the caller of resize() fills them.
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    if constexpr (sizeof...(Args) == 0 && std::is_trivially_default_constructible_v<U>)
      ::new (static_cast<void*>(at)) U;
    else
      ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const ColumnAllocator&, const ColumnAllocator&) { return true; }
};

/// A vector for as many elements as a trace has rows. resize() does not fill.
template <class T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace stepscope
