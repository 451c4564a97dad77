// One call of the program: its begin, its end, and what it was about.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <type_traits>

#include "collect/posix/files.h"
#include "collect/posix/paths.h"
#include "record/io/format.h"
#include "record/io/libraries.h"

namespace stepscope::collect::posix {

using record::IoFunction;

/// A function's number in the format.
struct FunctionNumber {
  FunctionNumber(IoFunction function) : value(static_cast<std::uint16_t>(function)) {}
  FunctionNumber(record::LibraryFunction function) : value(static_cast<std::uint16_t>(function)) {}
  std::uint16_t value;
};

struct Call {
  FunctionNumber function;
  int descriptor = -1;
  std::int64_t offset = record::kUnknownOffset;
  std::uint64_t size = 0;
  std::uint32_t detail = 0;
  bool is_long = false;  ///< `detail` or a second file is worth 24 bytes
  std::uint64_t begin = 0, end = 0;
  std::int64_t result = 0;
  int error = 0;
};

/// Writes the call into the recording. errno is kept.
void tell(const Call& call, File* file, File* other = nullptr, int other_descriptor = -1);
void tell(const Call& call, Named file, Named other = {});

template <class Value>
bool has_failed(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return value == nullptr || value == MAP_FAILED;
  else
    return value == Value(-1);
}

template <class Value>
std::int64_t number_from(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return has_failed(value) ? -1 : 0;
  else
    return static_cast<std::int64_t>(value);
}

/// Calls the next function and measures it.
template <class Next>
auto measured(Call& call, Next next) {
  call.begin = now();
  const auto result = next();
  call.end = now();
  call.result = number_from(result);
  call.error = has_failed(result) ? errno : 0;
  return result;
}

inline constexpr int kNoFlags = -1;

// Paths are looked at after the call: the kernel answers bad addresses with EFAULT, which would fault here.

/// Whether the kernel has read the call's path, so that it is a text. errno is that of the call, and is kept.
inline bool was_read(bool failed, const char* path) { return !failed || was_read_by_failed_call(path); }

/// Where a call writes a text, which may overwrite its path: then that is not known.
struct Output {
  const void* to = nullptr;
  std::size_t room = 0;
};

/// A call about a path, which may be relative to a directory's descriptor.
template <class Next>
auto about_path(Call call, int directory, const char* name, Next next, Output out = {}) {
  if (is_off()) return next();
  const auto result = measured(call, next);
  if (!was_read(has_failed(result), name) || overlaps(name, out.to, out.room)) return result;
  if (const Named file = named(directory, name); file.number != 0) tell(call, file);
  return result;
}

/// A call about two paths.
template <class Next>
auto about_paths(Call call, int directory, const char* name, int other_directory, const char* other_name,
                 Next next) {
  if (is_off()) return next();
  call.is_long = true;
  const auto result = measured(call, next);
  // A failed call may have read one of them.
  if (has_failed(result) && !(is_text(name) && is_text(other_name))) return result;
  const Named other = named(other_directory, other_name), file = named(directory, name);
  if (file.number != 0 || other.number != 0) tell(call, file, other);
  return result;
}

/// What a call opens.
struct Opening {
  int directory;
  const char* name;
  int flags;  ///< or kNoFlags
  Position position;
};

inline bool is_unnamed(int flags) { return flags != kNoFlags && (flags & O_TMPFILE) == O_TMPFILE; }

/// After a call that failed or opened a file that may be traced. `look`: look_at() its name, or 0.
[[gnu::noinline]] void opened_other(const Call& call, const Opening& what, std::size_t look);

/// A call that makes a descriptor of a path. `descriptor_of(result)`: -1 after failure.
template <class Next, class Descriptor>
auto opening(IoFunction function, int directory, const char* name, int flags, Position position, Next next,
             Descriptor descriptor_of) {
  if (is_off()) return next();
  const std::uint64_t begin = now();
  const auto result = next();
  const std::uint64_t end = now();
  const int descriptor = descriptor_of(result);
  const std::size_t look = descriptor >= 0 && !is_unnamed(flags) ? look_at(name) : 0;
  if (look == kLeft) [[likely]] {
    ignored(descriptor);
    return result;
  }
  opened_other({.function = function,
                .descriptor = descriptor,
                .begin = begin,
                .end = end,
                .result = number_from(result),
                .error = has_failed(result) ? errno : 0},
               {directory, name, flags, position}, look);
  return result;
}

template <class Next>
[[gnu::noinline]] auto closing_traced(IoFunction function, int descriptor, File& file, Next next) {
  const Named gone = named(file, descriptor);
  closed(descriptor);
  Call call{.function = function, .descriptor = descriptor};
  const auto result = measured(call, next);
  if (gone.number != 0) tell(call, gone);
  return result;
}

template <class Next>
[[gnu::noinline]] auto closing_other(IoFunction function, int descriptor, Next next) {
  if (File* file = traced(descriptor); file != nullptr)
    return closing_traced(function, descriptor, *file, next);
  closed(descriptor);
  return next();
}

/// A call that closes a descriptor. It is forgotten before: another thread may get the number at once.
template <class Next>
auto closing(IoFunction function, int descriptor, Next next) {
  if (!is_ignored(descriptor)) [[unlikely]]
    return closing_other(function, descriptor, next);
  files[descriptor].slot.store(kUnknown, std::memory_order_relaxed);
  return next();
}

/// Buffers of a vectored call.
struct Parts {
  const iovec* parts = nullptr;
  int count = 0;
};

/// Looked at after a call that succeeded: only then has the kernel found the addresses good.
inline void add_sizes(Call& call, Parts all) {
  if (call.result < 0 || all.count > IOV_MAX) return;
  for (int i = 0; i < all.count; ++i) call.size += all.parts[i].iov_len;
}

/// A call about an open file. `what` is copied once the file is known to be traced, so that other files cost
/// nothing.
template <class Next>
auto about_file(Call what, Next next, Parts parts = {}) {
  File* file = traced(what.descriptor);
  if (file == nullptr) return next();
  Call call = what;
  const auto result = measured(call, next);
  add_sizes(call, parts);
  tell(call, file);
  return result;
}

/// A call about a path in a directory, or about the directory's descriptor itself if the path is "" or null.
template <class Next>
auto about_path_at(Call call, int directory, const char* name, Next next, Output out = {}) {
  if (name == nullptr) {
    call.descriptor = directory;
    return about_file(call, next);
  }
  if (is_off()) return next();
  const auto result = measured(call, next);
  if (!was_read(has_failed(result), name) || overlaps(name, out.to, out.room)) return result;
  if (name[0] != '\0') {
    if (const Named file = named(directory, name); file.number != 0) tell(call, file);
  } else if (File* file = traced(directory); file != nullptr) {
    call.descriptor = directory;
    tell(call, file);
  }
  return result;
}

/// A read or write where the last one ended.
template <class Next>
auto sequential(Call what, bool writes, Next next, Parts parts = {}) {
  File* file = traced(what.descriptor);
  if (file == nullptr) {
    moves_unseen(what.descriptor);
    return next();
  }
  Call call = what;
  const bool appends = writes && file->appends;
  if (!appends) call.offset = position_of(*file, call.descriptor);
  const auto result = measured(call, next);
  add_sizes(call, parts);
  if (call.result > 0) {
    if (appends)
      call.offset = position_of(*file, call.descriptor) - call.result;
    else
      file->position.fetch_add(call.result, std::memory_order_relaxed);
  }
  tell(call, file);
  return result;
}

}  // namespace stepscope::collect::posix
