// One call of the program: its begin, its end, and what it was about.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <type_traits>

#include "collect/posix/files.h"
#include "collect/posix/paths.h"
#include "record/io/format.h"

namespace stepscope::collect::posix {

using record::IoFunction;

struct Call {
  IoFunction function;
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
void tell(const Call& call, const Path& path, const Path* other = nullptr);
/// The same for a call that opened `descriptor`, which has the path's number from now on.
void tell_opened(const Call& call, const Path& path, int descriptor, bool appends);

template <class Value>
bool has_failed(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return value == nullptr;
  else
    return value == Value(-1);
}

template <class Value>
std::int64_t number_from(Value value) {
  if constexpr (std::is_pointer_v<Value>)
    return value == nullptr ? -1 : 0;
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

/// A call about a path, which may be relative to a directory's descriptor.
template <class Next>
auto about_path(Call call, int directory, const char* name, Next next) {
  Path path;
  if (is_off() || !path.find(directory, name)) return next();
  const auto result = measured(call, next);
  tell(call, path);
  return result;
}

/// A call about two paths.
template <class Next>
auto about_paths(Call call, int directory, const char* name, int other_directory, const char* other_name,
                 Next next) {
  Path path, other;
  if (is_off()) return next();
  const bool has_other = other.find(other_directory, other_name);
  if (!path.find(directory, name) && !has_other) return next();
  call.is_long = true;
  const auto result = measured(call, next);
  tell(call, path, has_other ? &other : nullptr);
  return result;
}

/// A call about an open file.
template <class Next>
auto about_file(Call call, Next next) {
  File* file = traced(call.descriptor);
  if (file == nullptr) return next();
  const auto result = measured(call, next);
  tell(call, file);
  return result;
}

/// A read or write where the last one ended.
template <class Next>
auto sequential(Call call, bool writes, Next next) {
  File* file = traced(call.descriptor);
  if (file == nullptr) return next();
  const bool appends = writes && file->appends;
  if (!appends) call.offset = position_of(*file, call.descriptor);
  const auto result = measured(call, next);
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
