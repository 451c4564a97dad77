// How a function of libc is replaced: `WRAP(int, fsync, int file) { ... NEXT(fsync)(file) ... }`. The
// function has another name here, so that no header's declaration of it has to be repeated.
#pragma once

#include <atomic>

#include "record/io/functions.h"

#define WRAP(Result, name, ...) \
  extern "C" __attribute__((visibility("default"))) Result wrap_##name(__VA_ARGS__) asm(#name); \
  Result wrap_##name(__VA_ARGS__)

/// The function that the program would have called without us.
#define NEXT(name) \
  ::stepscope::collect::posix::next<::stepscope::record::IoFunction::name, decltype(wrap_##name)>(#name)

namespace stepscope::collect::posix {

/// dlsym(RTLD_NEXT). Ends the program if there is none: it could not have called it either.
void* find_next(const char* name);

template <record::IoFunction, class Function>
Function* next(const char* name) {
  static constinit std::atomic<Function*> found{nullptr};
  Function* at = found.load(std::memory_order_relaxed);
  if (at == nullptr) [[unlikely]] {
    at = reinterpret_cast<Function*>(find_next(name));
    found.store(at, std::memory_order_relaxed);
  }
  return at;
}

}  // namespace stepscope::collect::posix
