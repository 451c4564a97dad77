// Calls of MPI-IO. Handles are numbers or pointers, as the MPI library likes; they are passed on as they are.
// What may call the program's error handler is asked after success only.
#include "collect/posix/libraries.h"

namespace stepscope::collect::posix {
namespace {

using Handle = std::uintptr_t;
using Offset = std::int64_t;
constexpr int kSuccess = 0, kSequential = 256;

/// Open files.
struct OpenFile {
  std::atomic<Handle> handle{0};
  Named file;
  bool has_position = false;
};
constexpr std::uint32_t kMostFiles = 256;
constinit OpenFile open_files[kMostFiles];
std::atomic<std::uint32_t> used_files{0};

OpenFile* find_file(Handle handle) {
  const std::uint32_t used = used_files.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used && handle != 0; ++i)
    if (open_files[i].handle.load(std::memory_order_acquire) == handle) return &open_files[i];
  return nullptr;
}

void add_file(Handle handle, Named file, bool has_position) {
  constexpr Handle kReserved = UINTPTR_MAX;
  if (OpenFile* gone = find_file(handle); gone != nullptr) gone->handle.store(0, std::memory_order_release);
  for (std::uint32_t i = 0; i < kMostFiles; ++i) {
    Handle none = 0;
    if (!open_files[i].handle.compare_exchange_strong(none, kReserved)) continue;
    open_files[i].file = file;
    open_files[i].has_position = has_position;
    open_files[i].handle.store(handle, std::memory_order_release);
    for (std::uint32_t used = used_files.load();
         used <= i && !used_files.compare_exchange_weak(used, i + 1);) {
    }
    return;
  }
}

/// A name may begin with the kind of the file system: "ufs:/data/a".
Named named_file(const char* name) {
  if (!is_text(name)) return {};
  const char* end = std::strchr(name, ':');
  const bool has_kind = end != nullptr && end != name && std::memchr(name, '/', end - name) == nullptr;
  return named(AT_FDCWD, has_kind ? end + 1 : name);
}

void find(LibraryCall& of, Handle handle) {
  if (const OpenFile* file = find_file(handle); file != nullptr) of.file = file->file;
}

std::uint64_t bytes_of(const Library& library, std::int64_t count, Handle type) {
  int size = 0;
  if (library.ask<int(Handle, int*)>(Question::PMPI_Type_size, type, &size) != kSuccess || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

/// Where the call's bytes begin in the file; `at` counts in the view.
void place_call(LibraryCall& of, Handle file, Offset at) {
  Offset byte = 0;
  if (at >= 0 && of.library.ask<int(Handle, Offset, Offset*)>(Question::PMPI_File_get_byte_offset, file, at,
                                                              &byte) == kSuccess)
    of.call.offset = byte;
}

void say_status(LibraryCall& of, int result) { of.call.result = result == kSuccess ? 0 : -1; }

/// Where a call without an offset of its own begins; -1: not known.
Offset position_of(const Library& library, Handle handle) {
  const OpenFile* file = find_file(handle);
  Offset at = -1;
  if (file == nullptr || !file->has_position ||
      library.ask<int(Handle, Offset*)>(Question::PMPI_File_get_position, handle, &at) != kSuccess)
    return -1;
  return at;
}

/// Enough for any library's MPI_Status.
struct alignas(16) Answer {
  char bytes[256];
};
/// Programs that want no status say so with address 0 or 1. We do want it.
void* asked(void* status, Answer& own) {
  return reinterpret_cast<std::uintptr_t>(status) <= 1 ? &own : status;
}

/// -1: not known, or no whole number.
std::int64_t items_moved(const Library& library, void* status, Handle type) {
  std::int64_t many = -1;
  if (library.ask<int(void*, Handle, std::int64_t*)>(Question::PMPI_Get_count_c, status, type, &many) ==
      kSuccess)
    return many;
  int few = -1;
  library.ask<int(void*, Handle, int*)>(Question::PMPI_Get_count, status, type, &few);
  return few;
}

void say_moved(LibraryCall& of, int result, std::int64_t count, Handle type, void* status) {
  say_status(of, result);
  if (result != kSuccess) return;
  of.call.size = bytes_of(of.library, count, type);
  const std::int64_t items = items_moved(of.library, status, type);
  of.call.result = items < 0 ? 0 : static_cast<std::int64_t>(bytes_of(of.library, items, type));
}

/// What was asked for is all that is known.
void say_submitted(LibraryCall& of, int result, std::int64_t count, Handle type) {
  say_status(of, result);
  if (result != kSuccess) return;
  of.call.size = bytes_of(of.library, count, type);
  of.call.result = static_cast<std::int64_t>(of.call.size);
}

/// Shared pointers have no position that is known before.
enum class From : std::uint8_t { own, shared };

template <LibraryFunction function, class Count, From from>
int moving(const Target& target, Handle file, void* bytes, Count count, Handle type, void* status) {
  Answer own{};
  void* answer = asked(status, own);
  Offset at = -1;
  return passed_on<int>(
      function, target,
      [&](LibraryCall& of) {
        find(of, file);
        if (from == From::own && of.file.number != 0) at = position_of(of.library, file);
      },
      [&](LibraryCall& of, int result) {
        say_moved(of, result, count, type, answer);
        if (result == kSuccess) place_call(of, file, at);
      },
      file, bytes, count, type, answer);
}

template <LibraryFunction function, class Count>
int moving_at(const Target& target, Handle file, Offset at, void* bytes, Count count, Handle type,
              void* status) {
  Answer own{};
  void* answer = asked(status, own);
  return passed_on<int>(
      function, target, [&](LibraryCall& of) { find(of, file); },
      [&](LibraryCall& of, int result) {
        say_moved(of, result, count, type, answer);
        if (result == kSuccess) place_call(of, file, at);
      },
      file, at, bytes, count, type, answer);
}

/// Begins a read or write; `more`: where to put the request.
template <LibraryFunction function, class Count, From from, class... More>
int submitting(const Target& target, Handle file, void* bytes, Count count, Handle type, More... more) {
  Offset at = -1;
  return passed_on<int>(
      function, target,
      [&](LibraryCall& of) {
        find(of, file);
        if (from == From::own && of.file.number != 0) at = position_of(of.library, file);
      },
      [&](LibraryCall& of, int result) {
        say_submitted(of, result, count, type);
        if (result == kSuccess) place_call(of, file, at);
      },
      file, bytes, count, type, more...);
}

template <LibraryFunction function, class Count, class... More>
int submitting_at(const Target& target, Handle file, Offset at, void* bytes, Count count, Handle type,
                  More... more) {
  return passed_on<int>(
      function, target, [&](LibraryCall& of) { find(of, file); },
      [&](LibraryCall& of, int result) {
        say_submitted(of, result, count, type);
        if (result == kSuccess) place_call(of, file, at);
      },
      file, at, bytes, count, type, more...);
}

template <LibraryFunction function, class... Args>
int about_open_file(const Target& target, Handle file, Args... more) {
  return passed_on<int>(
      function, target, [&](LibraryCall& of) { find(of, file); }, say_status, file, more...);
}

template <LibraryFunction function>
int sizing(const Target& target, Handle file, Offset bytes) {
  return passed_on<int>(
      function, target,
      [&](LibraryCall& of) {
        find(of, file);
        of.call.size = bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
      },
      say_status, file, bytes);
}

template <LibraryFunction function>
int opening_shared(const Target& target, Handle group, const char* name, int mode, Handle hints,
                   Handle* made) {
  return passed_on<int>(
      function, target,
      [&](LibraryCall& of) {
        of.file = named_file(name);
        of.call.detail = static_cast<std::uint32_t>(mode);
        of.call.is_long = true;
      },
      [&](LibraryCall& of, int result) {
        say_status(of, result);
        if (result == kSuccess) add_file(*made, of.file, (mode & kSequential) == 0);
      },
      group, name, mode, hints, made);
}

/// The file is forgotten before: another thread may get the handle at once.
template <LibraryFunction function>
int closing_shared(const Target& target, Handle* handle) {
  return passed_on<int>(
      function, target,
      [&](LibraryCall& of) {
        OpenFile* file = find_file(*handle);
        if (file == nullptr) return;
        of.file = file->file;
        file->handle.store(0, std::memory_order_release);
      },
      say_status, handle);
}

template <LibraryFunction function>
int deleting(const Target& target, const char* name, Handle hints) {
  return passed_on<int>(
      function, target, [&](LibraryCall& of) { of.file = named_file(name); }, say_status, name, hints);
}

}  // namespace

void* mpi_wrapper(LibraryFunction function, unsigned number) {
  using F = LibraryFunction;
#define WRAPPER(name, body, ...) \
  case F::MPI_File_##name: \
    return wrapper_of<F::MPI_File_##name, &body<F::MPI_File_##name __VA_OPT__(, ) __VA_ARGS__>>(number);
#define BOTH(ending, body, ...) \
  WRAPPER(read##ending, body, __VA_ARGS__) \
  WRAPPER(write##ending, body, __VA_ARGS__)
// Those that count; MPI 4 has them also with a count of 64 bits.
#define COUNTING(before, ending, body, ...) \
  WRAPPER(before##read##ending, body, int __VA_OPT__(, ) __VA_ARGS__) \
  WRAPPER(before##write##ending, body, int __VA_OPT__(, ) __VA_ARGS__) \
  WRAPPER(before##read##ending##_c, body, std::int64_t __VA_OPT__(, ) __VA_ARGS__) \
  WRAPPER(before##write##ending##_c, body, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
  switch (function) {
    WRAPPER(open, opening_shared)
    WRAPPER(close, closing_shared)
    WRAPPER(delete, deleting)
    WRAPPER(set_size, sizing)
    WRAPPER(preallocate, sizing)
    WRAPPER(sync, about_open_file)
    WRAPPER(set_view, about_open_file, Offset, Handle, Handle, const char*, Handle)
    WRAPPER(seek, about_open_file, Offset, int)
    WRAPPER(seek_shared, about_open_file, Offset, int)
    COUNTING(, , moving, From::own)
    COUNTING(, _all, moving, From::own)
    COUNTING(, _shared, moving, From::shared)
    COUNTING(, _ordered, moving, From::shared)
    COUNTING(, _at, moving_at)
    COUNTING(, _at_all, moving_at)
    COUNTING(i, , submitting, From::own, void*)
    COUNTING(i, _all, submitting, From::own, void*)
    COUNTING(i, _shared, submitting, From::shared, void*)
    COUNTING(i, _at, submitting_at, void*)
    COUNTING(i, _at_all, submitting_at, void*)
    COUNTING(, _all_begin, submitting, From::own)
    COUNTING(, _ordered_begin, submitting, From::shared)
    COUNTING(, _at_all_begin, submitting_at)
    BOTH(_all_end, about_open_file, void*, void*)
    BOTH(_at_all_end, about_open_file, void*, void*)
    BOTH(_ordered_end, about_open_file, void*, void*)
    default:
      return nullptr;
  }
#undef COUNTING
#undef BOTH
#undef WRAPPER
}

}  // namespace stepscope::collect::posix
