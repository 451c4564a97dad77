// Calls that make, copy and close descriptors.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

template <class Next>
int opening_file(IoFunction function, int directory, const char* name, int flags, Next next) {
  const auto position = (flags & O_APPEND) != 0 ? Position::appended : Position::counted;
  return opening(function, directory, name, flags, position, next, [](int made) { return made; });
}

template <class Next>
int duplicating(Call call, Next next) {
  File* file = traced(call.descriptor);
  if (file == nullptr) {
    const int made = next();
    if (made == call.descriptor || made < 0) return made;
    closed(made);
    if (!is_off()) duplicated(call.descriptor, made);
    return made;
  }
  const int made = measured(call, next);
  if (made >= 0 && made != call.descriptor) {
    closed(made);
    duplicated(call.descriptor, made);
  }
  tell(call, file);
  return made;
}

}  // namespace

// A mode that was not given is passed on as it is.
#define OPEN(name) \
  WRAP(int, name, const char* path, int flags, mode_t mode) { \
    return opening_file(IoFunction::name, AT_FDCWD, path, flags, \
                        [=] { return NEXT(name)(path, flags, mode); }); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  WRAP(int, name, int directory, const char* path, int flags, mode_t mode) { \
    return opening_file(IoFunction::name, directory, path, flags, \
                        [=] { return NEXT(name)(directory, path, flags, mode); }); \
  }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name) \
  WRAP(int, name, const char* path, mode_t mode) { \
    return opening_file(IoFunction::name, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, \
                        [&] { return NEXT(name)(path, mode); }); \
  }
CREAT(creat)
CREAT(creat64)

#define OPEN_2(name) \
  WRAP(int, name, const char* path, int flags) { \
    return opening_file(IoFunction::name, AT_FDCWD, path, flags, [&] { return NEXT(name)(path, flags); }); \
  }
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(name) \
  WRAP(int, name, int directory, const char* path, int flags) { \
    return opening_file(IoFunction::name, directory, path, flags, \
                        [&] { return NEXT(name)(directory, path, flags); }); \
  }
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

WRAP(int, close, int descriptor) {
  return closing(IoFunction::close, descriptor, [=] { return NEXT(close)(descriptor); });
}

namespace {

/// Closes many: a record for each that is traced.
template <class Next>
int closing_all(IoFunction function, unsigned first, unsigned last, Next next) {
  struct {
    Named file;
    int descriptor;
  } gone[64];
  int count = 0;
  for (std::uint32_t at = next_used(first); at != UINT32_MAX && at <= last; at = next_used(at + 1)) {
    const auto descriptor = static_cast<int>(at);
    File* file = count < 64 ? traced(descriptor) : nullptr;
    if (file != nullptr) gone[count++] = {named(*file, descriptor), descriptor};
    closed(descriptor);
  }
  Call call{.function = function};
  const int result = measured(call, next);
  for (int i = 0; i < count; ++i) {
    call.descriptor = gone[i].descriptor;
    if (gone[i].file.number != 0) tell(call, gone[i].file);
  }
  return result;
}

}  // namespace

WRAP(int, close_range, unsigned first, unsigned last, int flags) {
  constexpr int kOnlyAtExec = 4;
  if (first > last || (flags & ~kOnlyAtExec & ~2) != 0) return NEXT(close_range)(first, last, flags);
  if ((flags & kOnlyAtExec) != 0 || is_off()) return NEXT(close_range)(first, last, flags);
  return closing_all(IoFunction::close_range, first, last,
                     [&] { return NEXT(close_range)(first, last, flags); });
}

WRAP(void, closefrom, int first) {
  if (is_off()) return NEXT(closefrom)(first);
  closing_all(IoFunction::closefrom, first < 0 ? 0 : static_cast<unsigned>(first), UINT32_MAX, [&] {
    NEXT(closefrom)(first);
    return 0;
  });
}

WRAP(int, dup, int from) {
  return duplicating({.function = IoFunction::dup, .descriptor = from}, [&] { return NEXT(dup)(from); });
}
WRAP(int, dup2, int from, int to) {
  return duplicating({.function = IoFunction::dup2, .descriptor = from},
                     [&] { return NEXT(dup2)(from, to); });
}
WRAP(int, dup3, int from, int to, int flags) {
  return duplicating({.function = IoFunction::dup3, .descriptor = from},
                     [&] { return NEXT(dup3)(from, to, flags); });
}

namespace {

template <class Next>
int controlling(IoFunction function, int descriptor, int command, void* value, Next next) {
  const Call call{.function = function,
                  .descriptor = descriptor,
                  .detail = static_cast<std::uint32_t>(command),
                  .is_long = true};
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return duplicating(call, next);
  const int result = about_file(call, next);
  if (File* file = command == F_SETFL && result == 0 ? traced(descriptor) : nullptr; file != nullptr) {
    file->appends = (reinterpret_cast<std::uintptr_t>(value) & O_APPEND) != 0;
    file->asks.store(true, std::memory_order_relaxed);
  }
  return result;
}

}  // namespace

#define FCNTL(name) \
  WRAP(int, name, int file, int command, ...) { \
    std::va_list more; \
    va_start(more, command); \
    void* value = va_arg(more, void*); \
    va_end(more); \
    return controlling(IoFunction::name, file, command, value, \
                       [&] { return NEXT(name)(file, command, value); }); \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

WRAP(DIR*, opendir, const char* name) {
  return opening(
      IoFunction::opendir, AT_FDCWD, name, kNoFlags, Position::counted, [&] { return NEXT(opendir)(name); },
      [](DIR* made) { return made == nullptr ? -1 : ::dirfd(made); });
}
WRAP(DIR*, fdopendir, int file) {
  return about_file({.function = IoFunction::fdopendir, .descriptor = file},
                    [&] { return NEXT(fdopendir)(file); });
}
#define READDIR(name, Entry) \
  WRAP(Entry*, name, DIR* folder) { \
    File* file = folder == nullptr ? nullptr : traced(::dirfd(folder)); \
    if (file == nullptr) return NEXT(name)(folder); \
    Call call{.function = IoFunction::name, .descriptor = ::dirfd(folder)}; \
    const int kept = errno; \
    errno = 0; \
    Entry* entry = measured(call, [&] { return NEXT(name)(folder); }); \
    call.result = entry == nullptr ? 0 : 1; \
    if (errno == 0) errno = kept; \
    tell(call, file); \
    return entry; \
  }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)
WRAP(void, rewinddir, DIR* folder) {
  const int file = folder == nullptr ? -1 : ::dirfd(folder);
  about_file({.function = IoFunction::rewinddir, .descriptor = file}, [&] {
    NEXT(rewinddir)(folder);
    return 0;
  });
}
WRAP(int, closedir, DIR* folder) {
  return closing(IoFunction::closedir, folder == nullptr ? -1 : ::dirfd(folder),
                 [&] { return NEXT(closedir)(folder); });
}

namespace {

/// The name is made by the call, which writes it to `pattern`.
template <class Next>
int making(IoFunction function, const char* pattern, Next next) {
  if (is_off()) return next();
  Call call{.function = function};
  const int made = measured(call, next);
  call.descriptor = made;
  const Named file = named(AT_FDCWD, pattern);
  if (made >= 0) opened(made, file, Position::counted);
  if (file.number != 0) tell(call, file);
  return made;
}

}  // namespace

#define MKSTEMP(name, params, args) \
  WRAP(int, name, params) { \
    return making(IoFunction::name, pattern, [&] { return NEXT(name) args; }); \
  }
#define PARAMS(...) __VA_ARGS__
MKSTEMP(mkstemp, PARAMS(char* pattern), (pattern))
MKSTEMP(mkstemp64, PARAMS(char* pattern), (pattern))
MKSTEMP(mkostemp, PARAMS(char* pattern, int flags), (pattern, flags))
MKSTEMP(mkostemp64, PARAMS(char* pattern, int flags), (pattern, flags))
MKSTEMP(mkstemps, PARAMS(char* pattern, int suffix), (pattern, suffix))
MKSTEMP(mkstemps64, PARAMS(char* pattern, int suffix), (pattern, suffix))
MKSTEMP(mkostemps, PARAMS(char* pattern, int suffix, int flags), (pattern, suffix, flags))
MKSTEMP(mkostemps64, PARAMS(char* pattern, int suffix, int flags), (pattern, suffix, flags))

}  // namespace stepscope::collect::posix
