#include "base/memory.h"

#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace stepscope {

#if defined(__SANITIZE_ADDRESS__)
#define STEPSCOPE_PLAIN_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPSCOPE_PLAIN_MEMORY 1
#endif
#endif

#if defined(__linux__) && !defined(STEPSCOPE_PLAIN_MEMORY)

namespace {
constexpr std::size_t kLargePage = std::size_t{1} << 21;

std::size_t whole_pages(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}
}  // namespace

void* map_memory(std::size_t bytes) {
  const std::size_t length = whole_pages(bytes);
  void* mapped =
      mmap(nullptr, length + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* first = static_cast<char*>(mapped);
  const std::size_t skipped =
      (kLargePage - reinterpret_cast<std::uintptr_t>(first) % kLargePage) % kLargePage;
  char* memory = first + skipped;
  if (skipped != 0) munmap(first, skipped);
  if (skipped != kLargePage) munmap(memory + length, kLargePage - skipped);
  // The rest after the last whole large page uses small pages, so that no unused memory is resident.
  madvise(memory, length / kLargePage * kLargePage, MADV_HUGEPAGE);
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) noexcept { munmap(memory, whole_pages(bytes)); }

#else

void* map_memory(std::size_t bytes) { return ::operator new(bytes); }
void unmap_memory(void* memory, std::size_t) noexcept { ::operator delete(memory); }

#endif

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // the maximum that 64-bit glibc accepts
  mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

}  // namespace stepscope
