// stdio: what the program asks of a FILE. What libc then does to fill or empty its buffer is inside libc.
#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

int descriptor_of(FILE* stream) { return stream == nullptr ? -1 : ::fileno_unlocked(stream); }

bool appends(const char* mode) { return mode != nullptr && mode[0] == 'a'; }

template <class Next>
FILE* opening(IoFunction function, const char* name, const char* mode, Next next) {
  Path path;
  if (is_off() || !path.find(AT_FDCWD, name)) {
    FILE* stream = next();
    if (stream != nullptr && !is_off()) opened(descriptor_of(stream), 0, false);
    return stream;
  }
  Call call{.function = function};
  FILE* stream = measured(call, next);
  if (stream == nullptr)
    tell(call, path);
  else
    tell_opened(call, path, call.descriptor = descriptor_of(stream), appends(mode));
  return stream;
}

/// A call that moves `bytes_of(result)` bytes at the stream's own position, which runs ahead of or behind the
/// descriptor's.
template <class Next, class Bytes>
auto moving(IoFunction function, FILE* stream, std::uint64_t size, bool writes, Next next, Bytes bytes_of) {
  File* file = is_off() ? nullptr : traced(descriptor_of(stream));
  if (file == nullptr) return next();
  Call call{.function = function, .descriptor = descriptor_of(stream), .size = size};
  if (!(writes && file->appends)) call.offset = file->position.load(std::memory_order_relaxed);
  const auto result = measured(call, next);
  call.result = bytes_of(result);
  if (call.error != 0 && call.result >= 0) call.error = 0;
  if (call.result > 0 && call.offset >= 0) file->position.fetch_add(call.result, std::memory_order_relaxed);
  tell(call, file);
  return result;
}

template <class Next>
auto seeking(IoFunction function, FILE* stream, int whence, Next next) {
  File* file = is_off() ? nullptr : traced(descriptor_of(stream));
  if (file == nullptr) return next();
  Call call{.function = function,
            .descriptor = descriptor_of(stream),
            .detail = static_cast<std::uint32_t>(whence),
            .is_long = true};
  const auto result = measured(call, next);
  if (call.error == 0) {
    const int kept = errno;
    const Inside inside;
    file->position.store(call.offset = ::ftello(stream), std::memory_order_relaxed);
    errno = kept;
  }
  tell(call, file);
  return result;
}

}  // namespace

#define FOPEN(name) \
  WRAP(FILE*, name, const char* path, const char* mode) { \
    return opening(IoFunction::name, path, mode, [&] { return NEXT(name)(path, mode); }); \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define FREOPEN(name) \
  WRAP(FILE*, name, const char* path, const char* mode, FILE* stream) { \
    closed(descriptor_of(stream)); \
    const auto next = [&] { return NEXT(name)(path, mode, stream); }; \
    return path == nullptr ? next() : opening(IoFunction::name, path, mode, next); \
  }
FREOPEN(freopen)
FREOPEN(freopen64)

WRAP(FILE*, fdopen, int file, const char* mode) {
  return about_file({.function = IoFunction::fdopen, .descriptor = file},
                    [&] { return NEXT(fdopen)(file, mode); });
}

WRAP(int, fclose, FILE* stream) {
  const int descriptor = descriptor_of(stream);
  File* file = is_off() ? nullptr : traced(descriptor);
  if (file == nullptr) {
    closed(descriptor);
    return NEXT(fclose)(stream);
  }
  File gone{};
  gone.number = file->number;
  gone.session = file->session;
  closed(descriptor);
  Call call{.function = IoFunction::fclose, .descriptor = descriptor};
  const int result = measured(call, [&] { return NEXT(fclose)(stream); });
  tell(call, &gone);
  return result;
}

#define FREAD(name) \
  WRAP(size_t, name, void* to, size_t size, size_t count, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, size * count, false, [&] { return NEXT(name)(to, size, count, stream); }, \
        [&](size_t items) { return static_cast<std::int64_t>(items * size); }); \
  }
FREAD(fread)
FREAD(fread_unlocked)

#define FREAD_CHK(name) \
  WRAP(size_t, name, void* to, size_t room, size_t size, size_t count, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, size * count, false, \
        [&] { return NEXT(name)(to, room, size, count, stream); }, \
        [&](size_t items) { return static_cast<std::int64_t>(items * size); }); \
  }
FREAD_CHK(__fread_chk)
FREAD_CHK(__fread_unlocked_chk)

#define FWRITE(name) \
  WRAP(size_t, name, const void* from, size_t size, size_t count, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, size * count, true, [&] { return NEXT(name)(from, size, count, stream); }, \
        [&](size_t items) { return static_cast<std::int64_t>(items * size); }); \
  }
FWRITE(fwrite)
FWRITE(fwrite_unlocked)

namespace {
std::int64_t line_length(const char* line) {
  return line == nullptr ? -1 : static_cast<std::int64_t>(std::strlen(line));
}
}  // namespace

#define FGETS(name) \
  WRAP(char*, name, char* to, int room, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, static_cast<std::uint64_t>(room), false, \
        [&] { return NEXT(name)(to, room, stream); }, line_length); \
  }
FGETS(fgets)
FGETS(fgets_unlocked)
WRAP(char*, __fgets_chk, char* to, size_t space, int room, FILE* stream) {
  return moving(
      IoFunction::__fgets_chk, stream, static_cast<std::uint64_t>(room), false,
      [&] { return NEXT(__fgets_chk)(to, space, room, stream); }, line_length);
}

namespace {
std::int64_t same(std::int64_t bytes) { return bytes; }
}  // namespace

WRAP(ssize_t, getline, char** line, size_t* room, FILE* stream) {
  return moving(
      IoFunction::getline, stream, 0, false, [&] { return NEXT(getline)(line, room, stream); }, same);
}
#define GETDELIM(name) \
  WRAP(ssize_t, name, char** line, size_t* room, int end, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, 0, false, [&] { return NEXT(name)(line, room, end, stream); }, same); \
  }
GETDELIM(getdelim)
GETDELIM(__getdelim)

#define FPUTS(name) \
  WRAP(int, name, const char* text, FILE* stream) { \
    const std::uint64_t length = is_off() ? 0 : std::strlen(text); \
    return moving( \
        IoFunction::name, stream, length, true, [&] { return NEXT(name)(text, stream); }, \
        [&](int result) { return result < 0 ? -1 : static_cast<std::int64_t>(length); }); \
  }
FPUTS(fputs)
FPUTS(fputs_unlocked)

WRAP(int, vfprintf, FILE* stream, const char* format, std::va_list values) {
  return moving(
      IoFunction::vfprintf, stream, 0, true, [&] { return NEXT(vfprintf)(stream, format, values); }, same);
}
WRAP(int, __vfprintf_chk, FILE* stream, int flag, const char* format, std::va_list values) {
  return moving(
      IoFunction::__vfprintf_chk, stream, 0, true,
      [&] { return NEXT(__vfprintf_chk)(stream, flag, format, values); }, same);
}
WRAP(int, fprintf, FILE* stream, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int result = moving(
      IoFunction::fprintf, stream, 0, true, [&] { return NEXT(vfprintf)(stream, format, values); }, same);
  va_end(values);
  return result;
}
WRAP(int, __fprintf_chk, FILE* stream, int flag, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int result = moving(
      IoFunction::__fprintf_chk, stream, 0, true,
      [&] { return NEXT(__vfprintf_chk)(stream, flag, format, values); }, same);
  va_end(values);
  return result;
}

#define FSEEK(name, Offset) \
  WRAP(int, name, FILE* stream, Offset to, int whence) { \
    return seeking(IoFunction::name, stream, whence, [&] { return NEXT(name)(stream, to, whence); }); \
  }
FSEEK(fseek, long)
FSEEK(fseeko, off64_t)
FSEEK(fseeko64, off64_t)
#define FSETPOS(name) \
  WRAP(int, name, FILE* stream, const fpos_t* to) { \
    return seeking(IoFunction::name, stream, SEEK_SET, [&] { return NEXT(name)(stream, to); }); \
  }
FSETPOS(fsetpos)
FSETPOS(fsetpos64)
WRAP(void, rewind, FILE* stream) {
  seeking(IoFunction::rewind, stream, SEEK_SET, [&] {
    NEXT(rewind)(stream);
    return 0;
  });
}

#define FTELL(Offset, name) \
  WRAP(Offset, name, FILE* stream) { \
    File* file = is_off() ? nullptr : traced(descriptor_of(stream)); \
    if (file == nullptr) return NEXT(name)(stream); \
    Call call{.function = IoFunction::name, .descriptor = descriptor_of(stream)}; \
    const Offset at = measured(call, [&] { return NEXT(name)(stream); }); \
    call.offset = at; \
    tell(call, file); \
    return at; \
  }
FTELL(long, ftell)
FTELL(off64_t, ftello)
FTELL(off64_t, ftello64)

WRAP(int, fflush, FILE* stream) {
  if (stream == nullptr) return NEXT(fflush)(stream);
  return about_file({.function = IoFunction::fflush, .descriptor = descriptor_of(stream)},
                    [&] { return NEXT(fflush)(stream); });
}

}  // namespace stepscope::collect::posix
