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
int opening(IoFunction function, int directory, const char* name, int flags, Next next) {
  Path path;
  if (is_off() || !path.find(directory, name)) {
    const int opened_as = next();
    if (!is_off()) opened(opened_as, 0, false);
    return opened_as;
  }
  Call call{.function = function, .detail = static_cast<std::uint32_t>(flags), .is_long = true};
  const int descriptor = measured(call, next);
  call.descriptor = descriptor;
  if (descriptor < 0)
    tell(call, path);
  else
    tell_opened(call, path, descriptor, (flags & O_APPEND) != 0);
  return descriptor;
}

template <class Next>
int duplicating(IoFunction function, int from, Next next) {
  if (is_off()) return next();
  Call call{.function = function, .descriptor = from};
  File* file = traced(from);
  const int made = measured(call, next);
  if (made < 0 || made == from) return made;
  closed(made);
  duplicated(from, made);
  if (file != nullptr) tell(call, file);
  return made;
}

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

mode_t mode_of(int flags, std::va_list more) { return has_mode(flags) ? va_arg(more, mode_t) : 0; }

}  // namespace

#define OPEN(name) \
  WRAP(int, name, const char* path, int flags, ...) { \
    std::va_list more; \
    va_start(more, flags); \
    const mode_t mode = mode_of(flags, more); \
    va_end(more); \
    return opening(IoFunction::name, AT_FDCWD, path, flags, [&] { return NEXT(name)(path, flags, mode); }); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
  WRAP(int, name, int directory, const char* path, int flags, ...) { \
    std::va_list more; \
    va_start(more, flags); \
    const mode_t mode = mode_of(flags, more); \
    va_end(more); \
    return opening(IoFunction::name, directory, path, flags, \
                   [&] { return NEXT(name)(directory, path, flags, mode); }); \
  }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name) \
  WRAP(int, name, const char* path, mode_t mode) { \
    return opening(IoFunction::name, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, \
                   [&] { return NEXT(name)(path, mode); }); \
  }
CREAT(creat)
CREAT(creat64)

#define OPEN_2(name) \
  WRAP(int, name, const char* path, int flags) { \
    return opening(IoFunction::name, AT_FDCWD, path, flags, [&] { return NEXT(name)(path, flags); }); \
  }
OPEN_2(__open_2)
OPEN_2(__open64_2)

#define OPENAT_2(name) \
  WRAP(int, name, int directory, const char* path, int flags) { \
    return opening(IoFunction::name, directory, path, flags, \
                   [&] { return NEXT(name)(directory, path, flags); }); \
  }
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

WRAP(int, close, int descriptor) {
  File* file = traced(descriptor);
  if (file == nullptr) {
    closed(descriptor);
    return NEXT(close)(descriptor);
  }
  Call call{.function = IoFunction::close, .descriptor = descriptor};
  const int kept = errno;
  std::uint32_t number = 0;
  {
    const Inside inside;
    if (Thread* thread = place()) number = number_of(*thread, *file, descriptor);
  }
  closed(descriptor);  // before it is: another thread may get the number at once
  errno = kept;
  const int result = measured(call, [&] { return NEXT(close)(descriptor); });
  File gone{};
  gone.number = number;
  gone.session = session.load(std::memory_order_relaxed);
  tell(call, &gone);
  return result;
}

WRAP(int, close_range, unsigned first, unsigned last, int flags) {
  constexpr int kOnlyAtExec = 4;
  if ((flags & kOnlyAtExec) == 0) closed(first, last);
  return NEXT(close_range)(first, last, flags);
}

WRAP(void, closefrom, int first) {
  closed(first < 0 ? 0 : static_cast<unsigned>(first), kDescriptors);
  NEXT(closefrom)(first);
}

WRAP(int, dup, int from) {
  return duplicating(IoFunction::dup, from, [&] { return NEXT(dup)(from); });
}
WRAP(int, dup2, int from, int to) {
  return duplicating(IoFunction::dup2, from, [&] { return NEXT(dup2)(from, to); });
}
WRAP(int, dup3, int from, int to, int flags) {
  return duplicating(IoFunction::dup3, from, [&] { return NEXT(dup3)(from, to, flags); });
}

#define FCNTL(name) \
  WRAP(int, name, int file, int command, ...) { \
    std::va_list more; \
    va_start(more, command); \
    void* value = va_arg(more, void*); \
    va_end(more); \
    const auto next = [&] { return NEXT(name)(file, command, value); }; \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return duplicating(IoFunction::name, file, next); \
    return about_file({.function = IoFunction::name, .descriptor = file}, next); \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

WRAP(DIR*, opendir, const char* name) {
  Path path;
  if (is_off() || !path.find(AT_FDCWD, name)) return NEXT(opendir)(name);
  Call call{.function = IoFunction::opendir};
  DIR* made = measured(call, [&] { return NEXT(opendir)(name); });
  if (made == nullptr)
    tell(call, path);
  else
    tell_opened(call, path, call.descriptor = ::dirfd(made), false);
  return made;
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
WRAP(void, rewinddir, DIR* folder) { NEXT(rewinddir)(folder); }
WRAP(int, closedir, DIR* folder) {
  const int descriptor = folder == nullptr ? -1 : ::dirfd(folder);
  Call call{.function = IoFunction::closedir, .descriptor = descriptor};
  File* file = traced(descriptor);
  File gone{};
  if (file != nullptr) {
    gone.number = file->number;
    gone.session = file->session;
  }
  closed(descriptor);
  const int result = measured(call, [&] { return NEXT(closedir)(folder); });
  if (file != nullptr) tell(call, &gone);
  return result;
}

extern "C" __attribute__((visibility("default"))) void wrap__exit(int code) asm("_exit");
extern "C" __attribute__((visibility("default"))) void wrap__Exit(int code) asm("_Exit");
void wrap__exit(int code) {
  finish();
  static auto* const leave = reinterpret_cast<void (*)(int)>(find_next("_exit"));
  leave(code);
}
void wrap__Exit(int code) { wrap__exit(code); }

}  // namespace stepscope::collect::posix
