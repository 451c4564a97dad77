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

/// -1: a stream without a descriptor, as fmemopen makes them. errno is kept.
int descriptor_of(FILE* stream) {
  const int kept = errno;
  const int descriptor = stream == nullptr ? -1 : ::fileno_unlocked(stream);
  errno = kept;
  return descriptor;
}

bool appends(const char* mode) { return mode != nullptr && mode[0] == 'a'; }

/// The traced file under a stream; null: none. stdio moves the descriptor when it likes.
File* traced_under(FILE* stream) {
  File* file = is_off() ? nullptr : traced(descriptor_of(stream));
  if (file != nullptr) file->asks.store(true, std::memory_order_relaxed);
  return file;
}

/// Where the stream is. Never waits: not known while another thread uses it.
std::int64_t position_of(FILE* stream) {
  const int kept = errno;
  const Inside inside;
  std::int64_t at = record::kUnknownOffset;
  if (::ftrylockfile(stream) == 0) {
    at = ::ftello(stream);
    ::funlockfile(stream);
  }
  errno = kept;
  return at;
}

template <class Next>
FILE* opening_stream(IoFunction function, const char* name, const char* mode, Next next) {
  const auto position = appends(mode) ? Position::appended : Position::asked;
  return opening(function, AT_FDCWD, name, kNoFlags, position, next, descriptor_of);
}

/// A call that moves `bytes_of(result)` bytes; -1: it failed, or the file is at its end. `bytes_of` may also
/// ask for the offset where the call began.
template <class Next, class Bytes>
auto moving(IoFunction function, FILE* stream, std::uint64_t size, bool writes, Next next, Bytes bytes_of) {
  File* file = traced_under(stream);
  if (file == nullptr) return next();
  Call call{.function = function, .descriptor = descriptor_of(stream), .size = size};
  const bool is_appended = writes && file->appends;
  if (!is_appended) call.offset = position_of(stream);
  const auto result = measured(call, next);
  if constexpr (std::is_invocable_v<Bytes, decltype(result), std::int64_t>)
    call.result = bytes_of(result, call.offset);
  else
    call.result = bytes_of(result);
  call.error = 0;
  const bool is_short = call.result < 0 || static_cast<std::uint64_t>(call.result) < size;
  if (is_short && ::ferror_unlocked(stream) != 0) call.error = errno;
  if (call.result <= 0) call.result = call.error == 0 ? 0 : -1;  // 0: the file's end
  if (is_appended && call.result > 0 && !file->hides_appending) {
    const std::int64_t end = position_of(stream);
    if (end >= call.result) call.offset = end - call.result;
  }
  tell(call, file);
  return result;
}

/// A call whose result does not say how many bytes it moved.
template <class Next>
int scanning(IoFunction function, FILE* stream, Next next) {
  File* file = traced_under(stream);
  if (file == nullptr) return next();
  Call call{.function = function, .descriptor = descriptor_of(stream), .offset = position_of(stream)};
  const int result = measured(call, next);
  call.error = result < 0 && ::ferror_unlocked(stream) != 0 ? errno : 0;
  const std::int64_t end = position_of(stream);
  call.result = call.error != 0 ? -1 : end >= 0 && call.offset >= 0 ? end - call.offset : 0;
  tell(call, file);
  return result;
}

/// A call that asks for or changes the position.
template <class Next>
auto seeking(IoFunction function, FILE* stream, int whence, Next next) {
  File* file = traced_under(stream);
  if (file == nullptr) return next();
  Call call{.function = function,
            .descriptor = descriptor_of(stream),
            .detail = static_cast<std::uint32_t>(whence),
            .is_long = whence != SEEK_SET};
  const auto result = measured(call, next);
  if (call.error == 0) call.offset = position_of(stream);
  tell(call, file);
  return result;
}

}  // namespace

#define FOPEN(name) \
  WRAP(FILE*, name, const char* path, const char* mode) { \
    return opening_stream(IoFunction::name, path, mode, [&] { return NEXT(name)(path, mode); }); \
  }
FOPEN(fopen)
FOPEN(fopen64)

/// Without a path only the mode changes.
#define FREOPEN(name) \
  WRAP(FILE*, name, const char* path, const char* mode, FILE* stream) { \
    const auto next = [&] { return NEXT(name)(path, mode, stream); }; \
    if (path == nullptr) \
      return about_file({.function = IoFunction::name, .descriptor = descriptor_of(stream)}, next); \
    closed(descriptor_of(stream)); \
    return opening_stream(IoFunction::name, path, mode, next); \
  }
FREOPEN(freopen)
FREOPEN(freopen64)

WRAP(FILE*, fdopen, int descriptor, const char* mode) {
  File* file = traced(descriptor);
  FILE* stream = about_file({.function = IoFunction::fdopen, .descriptor = descriptor},
                            [&] { return NEXT(fdopen)(descriptor, mode); });
  if (stream != nullptr && file != nullptr) {
    file->hides_appending = file->appends && !appends(mode);
    file->appends |= appends(mode);
    file->asks.store(true, std::memory_order_relaxed);
  }
  return stream;
}

#define CLOSE(name) \
  WRAP(int, name, FILE* stream) { \
    return closing(IoFunction::name, descriptor_of(stream), [&] { return NEXT(name)(stream); }); \
  }
CLOSE(fclose)
CLOSE(pclose)

/// The file has no name that could be opened.
#define TMPFILE(name) \
  WRAP(FILE*, name) { \
    if (is_off()) return NEXT(name)(); \
    Call call{.function = IoFunction::name}; \
    FILE* stream = measured(call, [] { return NEXT(name)(); }); \
    if (stream == nullptr) return stream; \
    closed(call.descriptor = descriptor_of(stream)); \
    if (File* file = traced_under(stream)) tell(call, file); \
    return stream; \
  }
TMPFILE(tmpfile)
TMPFILE(tmpfile64)

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
/// What fgets has read. Zeros in a line hide its end: then the stream's position tells.
auto line_length(FILE* stream, int room) {
  return [=](const char* line, std::int64_t begin) -> std::int64_t {
    if (line == nullptr) return -1;
    const auto length = static_cast<std::int64_t>(std::strlen(line));
    if (begin < 0 || length + 1 >= room || (length > 0 && line[length - 1] == '\n')) return length;
    const std::int64_t end = position_of(stream);
    return end < begin ? length : end - begin;
  };
}
}  // namespace

#define FGETS(name) \
  WRAP(char*, name, char* to, int room, FILE* stream) { \
    return moving( \
        IoFunction::name, stream, static_cast<std::uint64_t>(room), false, \
        [&] { return NEXT(name)(to, room, stream); }, line_length(stream, room)); \
  }
FGETS(fgets)
FGETS(fgets_unlocked)
WRAP(char*, __fgets_chk, char* to, size_t space, int room, FILE* stream) {
  return moving(
      IoFunction::__fgets_chk, stream, static_cast<std::uint64_t>(room), false,
      [&] { return NEXT(__fgets_chk)(to, space, room, stream); }, line_length(stream, room));
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

WRAP(int, vprintf, const char* format, std::va_list values) {
  return moving(IoFunction::vprintf, stdout, 0, true, [&] { return NEXT(vprintf)(format, values); }, same);
}
WRAP(int, __vprintf_chk, int flag, const char* format, std::va_list values) {
  return moving(
      IoFunction::__vprintf_chk, stdout, 0, true, [&] { return NEXT(__vprintf_chk)(flag, format, values); },
      same);
}
WRAP(int, printf, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int result =
      moving(IoFunction::printf, stdout, 0, true, [&] { return NEXT(vprintf)(format, values); }, same);
  va_end(values);
  return result;
}
WRAP(int, __printf_chk, int flag, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  const int result = moving(
      IoFunction::__printf_chk, stdout, 0, true, [&] { return NEXT(__vprintf_chk)(flag, format, values); },
      same);
  va_end(values);
  return result;
}
WRAP(int, puts, const char* text) {
  const std::uint64_t length = is_off() ? 0 : std::strlen(text) + 1;
  return moving(
      IoFunction::puts, stdout, length, true, [&] { return NEXT(puts)(text); },
      [&](int result) { return result < 0 ? -1 : static_cast<std::int64_t>(length); });
}

#define VFSCANF(name) \
  WRAP(int, name, FILE* stream, const char* format, std::va_list values) { \
    return scanning(IoFunction::name, stream, [&] { return NEXT(name)(stream, format, values); }); \
  }
VFSCANF(vfscanf)
VFSCANF(__isoc99_vfscanf)
#define FSCANF(name, with_list) \
  WRAP(int, name, FILE* stream, const char* format, ...) { \
    std::va_list values; \
    va_start(values, format); \
    const int result = \
        scanning(IoFunction::name, stream, [&] { return NEXT(with_list)(stream, format, values); }); \
    va_end(values); \
    return result; \
  }
FSCANF(fscanf, vfscanf)
FSCANF(__isoc99_fscanf, __isoc99_vfscanf)

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
    return seeking(IoFunction::name, stream, SEEK_SET, [&] { return NEXT(name)(stream); }); \
  }
FTELL(long, ftell)
FTELL(off64_t, ftello)
FTELL(off64_t, ftello64)
#define FGETPOS(name) \
  WRAP(int, name, FILE* stream, fpos_t* to) { \
    return seeking(IoFunction::name, stream, SEEK_SET, [&] { return NEXT(name)(stream, to); }); \
  }
FGETPOS(fgetpos)
FGETPOS(fgetpos64)

WRAP(int, fflush, FILE* stream) {
  if (stream == nullptr) return NEXT(fflush)(stream);
  return about_file({.function = IoFunction::fflush, .descriptor = descriptor_of(stream)},
                    [&] { return NEXT(fflush)(stream); });
}

}  // namespace stepscope::collect::posix
