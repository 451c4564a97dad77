// How a function of libc is replaced: `WRAP(int, fsync, int file) { ... NEXT(fsync)(file) ... }`. The
// function has another name here, so that no header's declaration of it has to be repeated.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <type_traits>

#include "collect/posix/hot.h"
#include "record/io/functions.h"

#define WRAP(Result, name, ...) \
  extern "C" __attribute__((visibility("default"))) Result wrap_##name(__VA_ARGS__) asm(#name); \
  Result wrap_##name(__VA_ARGS__)

/// The function that the program would have called without us.
#define NEXT(name) \
  ::stepscope::collect::posix::next<::stepscope::record::IoFunction::name, decltype(wrap_##name)>()

namespace stepscope::collect::posix {

using record::IoFunction;

/// The next functions; null: not looked for yet.
HOT_DATA extern constinit std::atomic<void*> next_functions[record::kIoFunctions];

/// Looks for all of them, so that no later call has to ask the dynamic linker.
void find_all_next();
/// Looks for one; null: there is none. errno is kept.
void* find_next(IoFunction function);
/// The same by name.
void* find_next(const char* name);

/// The next function of that name, for functions that are not recorded; null: there is none.
template <class Function>
Function* next_once(std::atomic<Function*>& known, const char* name) {
  Function* at = known.load(std::memory_order_relaxed);
  if (at == nullptr)
    known.store(at = reinterpret_cast<Function*>(find_next(name)), std::memory_order_relaxed);
  return at;
}

/// What a function does that neither libc nor another library has: fails with ENOSYS.
template <class Result>
Result no_such_function() {
  errno = ENOSYS;
  if constexpr (std::is_pointer_v<Result>)
    return nullptr;
  else if constexpr (!std::is_void_v<Result>)
    return Result(-1);
}

template <class Function>
struct Missing;
template <class Result, class... Args>
struct Missing<Result(Args...)> {
  static Result call(Args...) { return no_such_function<Result>(); }
};
template <class Result, class... Args>
struct Missing<Result(Args..., ...)> {
  static Result call(Args..., ...) { return no_such_function<Result>(); }
};

template <IoFunction function, class Function>
Function* next() {
  void* at = next_functions[static_cast<int>(function)].load(std::memory_order_relaxed);
  if (at == nullptr) [[unlikely]]
    at = find_next(function);
  return at == nullptr ? &Missing<Function>::call : reinterpret_cast<Function*>(at);
}

}  // namespace stepscope::collect::posix
