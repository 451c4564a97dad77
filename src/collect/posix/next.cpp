// Finds the functions that ours stand before.
#include <dlfcn.h>

#include <cerrno>

#include "collect/posix/process.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {

constinit std::atomic<void*> next_functions[record::kIoFunctions] = {};

void* find_next(const char* name) {
  const int kept = errno;
  const Inside inside;
  void* found = ::dlsym(RTLD_NEXT, name);
  errno = kept;
  return found;
}

void* find_next(IoFunction function) {
  const auto number = static_cast<std::uint32_t>(function);
  void* found = find_next(record::kIoNames[number].data());
  if (found != nullptr) next_functions[number].store(found, std::memory_order_relaxed);
  return found;
}

void find_all_next() {
  for (std::uint32_t number = 0; number < record::kIoFunctions; ++number)
    find_next(static_cast<IoFunction>(number));
}

}  // namespace stepscope::collect::posix
