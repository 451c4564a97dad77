// Calls that read, write and move in open files.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

Call vectored(IoFunction function, int file, int count, off64_t at) {
  return {.function = function,
          .descriptor = file,
          .offset = at,
          .detail = static_cast<std::uint32_t>(count),
          .is_long = true};
}

/// A copy from one file to another, either of which may be traced. `from_at`: where to read, and then where
/// the next read would be; null: at the file's position.
template <class Next>
ssize_t copying(Call call, int from, const off64_t* from_at, int to, const off64_t* to_at, Next next) {
  File *in = traced(from), *out = traced(to);
  if (in == nullptr && out == nullptr) return next();
  File* file = in != nullptr ? in : out;
  const off64_t* at = in != nullptr ? from_at : to_at;
  call.descriptor = in != nullptr ? from : to;
  call.is_long = true;
  if (at == nullptr && !(in == nullptr && out->appends)) call.offset = position_of(*file, call.descriptor);
  const ssize_t moved = measured(call, next);
  if (moved >= 0 && at != nullptr) call.offset = *at - moved;
  if (moved > 0 && in != nullptr && from_at == nullptr)
    in->position.fetch_add(moved, std::memory_order_relaxed);
  if (moved > 0 && out != nullptr && to_at == nullptr)
    out->position.fetch_add(moved, std::memory_order_relaxed);
  tell(call, in, out, to);
  return moved;
}

}  // namespace

#define READ(name) \
  WRAP(ssize_t, name, int file, void* to, size_t bytes) { \
    return sequential({.function = IoFunction::name, .descriptor = file, .size = bytes}, false, \
                      [&] { return NEXT(name)(file, to, bytes); }); \
  }
READ(read)

WRAP(ssize_t, __read_chk, int file, void* to, size_t bytes, size_t room) {
  return sequential({.function = IoFunction::__read_chk, .descriptor = file, .size = bytes}, false,
                    [&] { return NEXT(__read_chk)(file, to, bytes, room); });
}

#define PREAD(name) \
  WRAP(ssize_t, name, int file, void* to, size_t bytes, off64_t at) { \
    return about_file({.function = IoFunction::name, .descriptor = file, .offset = at, .size = bytes}, \
                      [&] { return NEXT(name)(file, to, bytes, at); }); \
  }
PREAD(pread)
PREAD(pread64)

#define PREAD_CHK(name) \
  WRAP(ssize_t, name, int file, void* to, size_t bytes, off64_t at, size_t room) { \
    return about_file({.function = IoFunction::name, .descriptor = file, .offset = at, .size = bytes}, \
                      [&] { return NEXT(name)(file, to, bytes, at, room); }); \
  }
PREAD_CHK(__pread_chk)
PREAD_CHK(__pread64_chk)

WRAP(ssize_t, write, int file, const void* from, size_t bytes) {
  return sequential({.function = IoFunction::write, .descriptor = file, .size = bytes}, true,
                    [&] { return NEXT(write)(file, from, bytes); });
}

#define PWRITE(name) \
  WRAP(ssize_t, name, int file, const void* from, size_t bytes, off64_t at) { \
    return about_file({.function = IoFunction::name, .descriptor = file, .offset = at, .size = bytes}, \
                      [&] { return NEXT(name)(file, from, bytes, at); }); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

WRAP(ssize_t, readv, int file, const iovec* parts, int count) {
  return sequential(vectored(IoFunction::readv, file, count, record::kUnknownOffset), false,
                    [&] { return NEXT(readv)(file, parts, count); }, {parts, count});
}
WRAP(ssize_t, writev, int file, const iovec* parts, int count) {
  return sequential(vectored(IoFunction::writev, file, count, record::kUnknownOffset), true,
                    [&] { return NEXT(writev)(file, parts, count); }, {parts, count});
}

#define AT_VECTOR(name) \
  WRAP(ssize_t, name, int file, const iovec* parts, int count, off64_t at) { \
    return about_file(vectored(IoFunction::name, file, count, at), \
                      [&] { return NEXT(name)(file, parts, count, at); }, {parts, count}); \
  }
AT_VECTOR(preadv)
AT_VECTOR(preadv64)
AT_VECTOR(pwritev)
AT_VECTOR(pwritev64)

/// Offset -1 is the file's position.
#define AT_VECTOR_2(name, writes) \
  WRAP(ssize_t, name, int file, const iovec* parts, int count, off64_t at, int flags) { \
    const auto next = [&] { return NEXT(name)(file, parts, count, at, flags); }; \
    const Call call = vectored(IoFunction::name, file, count, at); \
    const Parts all{parts, count}; \
    return at == -1 ? sequential(call, writes, next, all) : about_file(call, next, all); \
  }
AT_VECTOR_2(preadv2, false)
AT_VECTOR_2(preadv64v2, false)
AT_VECTOR_2(pwritev2, true)
AT_VECTOR_2(pwritev64v2, true)

#define SENDFILE(name) \
  WRAP(ssize_t, name, int to, int from, off64_t* at, size_t bytes) { \
    return copying({.function = IoFunction::name, .size = bytes}, from, at, to, nullptr, \
                   [&] { return NEXT(name)(to, from, at, bytes); }); \
  }
SENDFILE(sendfile)
SENDFILE(sendfile64)
WRAP(ssize_t, copy_file_range, int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes,
     unsigned flags) {
  return copying({.function = IoFunction::copy_file_range, .size = bytes}, from, from_at, to, to_at,
                 [&] { return NEXT(copy_file_range)(from, from_at, to, to_at, bytes, flags); });
}
WRAP(ssize_t, splice, int from, off64_t* from_at, int to, off64_t* to_at, size_t bytes, unsigned flags) {
  return copying({.function = IoFunction::splice, .size = bytes}, from, from_at, to, to_at,
                 [&] { return NEXT(splice)(from, from_at, to, to_at, bytes, flags); });
}

#define LSEEK(name) \
  WRAP(off64_t, name, int file, off64_t to, int whence) { \
    File* known = traced(file); \
    const auto next = [&] { return NEXT(name)(file, to, whence); }; \
    if (known == nullptr) return next(); \
    Call call{.function = IoFunction::name, \
              .descriptor = file, \
              .detail = static_cast<std::uint32_t>(whence), \
              .is_long = whence != SEEK_SET}; \
    const off64_t now_at = measured(call, next); \
    call.offset = now_at; \
    if (now_at >= 0) known->position.store(now_at, std::memory_order_relaxed); \
    tell(call, known); \
    return now_at; \
  }
LSEEK(lseek)
LSEEK(lseek64)

#define OF_FILE(Result, name, params, args, ...) \
  WRAP(Result, name, params) { \
    return about_file({.function = IoFunction::name, .descriptor = file, __VA_ARGS__}, \
                      [&] { return NEXT(name) args; }); \
  }
#define PARAMS(...) __VA_ARGS__
OF_FILE(int, fsync, PARAMS(int file), (file), )
OF_FILE(int, fdatasync, PARAMS(int file), (file), )
OF_FILE(int, syncfs, PARAMS(int file), (file), )
OF_FILE(int, sync_file_range, PARAMS(int file, off64_t at, off64_t bytes, unsigned flags),
        (file, at, bytes, flags), .offset = at, .size = static_cast<std::uint64_t>(bytes))
OF_FILE(int, ftruncate, PARAMS(int file, off64_t bytes), (file, bytes),
        .size = static_cast<std::uint64_t>(bytes))
OF_FILE(int, ftruncate64, PARAMS(int file, off64_t bytes), (file, bytes),
        .size = static_cast<std::uint64_t>(bytes))
OF_FILE(int, fallocate, PARAMS(int file, int mode, off64_t at, off64_t bytes), (file, mode, at, bytes),
        .offset = at, .size = static_cast<std::uint64_t>(bytes))
OF_FILE(int, fallocate64, PARAMS(int file, int mode, off64_t at, off64_t bytes), (file, mode, at, bytes),
        .offset = at, .size = static_cast<std::uint64_t>(bytes))
OF_FILE(ssize_t, readahead, PARAMS(int file, off64_t at, size_t bytes), (file, at, bytes), .offset = at,
        .size = bytes)
OF_FILE(int, flock, PARAMS(int file, int how), (file, how), )
OF_FILE(int, lockf, PARAMS(int file, int how, off64_t bytes), (file, how, bytes), )
OF_FILE(int, lockf64, PARAMS(int file, int how, off64_t bytes), (file, how, bytes), )

/// These return an error number and leave errno alone.
template <class Next>
int returning_error(Call call, Next next) {
  File* file = traced(call.descriptor);
  if (file == nullptr) return next();
  const int error = measured(call, next);
  call.error = error;
  call.result = error == 0 ? 0 : -1;
  tell(call, file);
  return error;
}
#define ERROR_OF_FILE(name, params, args) \
  WRAP(int, name, params) { \
    return returning_error({.function = IoFunction::name, \
                            .descriptor = file, \
                            .offset = at, \
                            .size = static_cast<std::uint64_t>(bytes)}, \
                           [&] { return NEXT(name) args; }); \
  }
ERROR_OF_FILE(posix_fallocate, PARAMS(int file, off64_t at, off64_t bytes), (file, at, bytes))
ERROR_OF_FILE(posix_fallocate64, PARAMS(int file, off64_t at, off64_t bytes), (file, at, bytes))
ERROR_OF_FILE(posix_fadvise, PARAMS(int file, off64_t at, off64_t bytes, int how), (file, at, bytes, how))
ERROR_OF_FILE(posix_fadvise64, PARAMS(int file, off64_t at, off64_t bytes, int how), (file, at, bytes, how))

// Allocators map memory before anything else works, and dlsym may ask them for memory.
#define MMAP(name) \
  WRAP(void*, name, void* at, size_t bytes, int protection, int flags, int file, off64_t offset) { \
    if (next_functions[static_cast<int>(IoFunction::name)].load(std::memory_order_relaxed) == nullptr) \
      return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset)); \
    if (file < 0 || (flags & MAP_ANONYMOUS) != 0) \
      return NEXT(name)(at, bytes, protection, flags, file, offset); \
    return about_file({.function = IoFunction::name, \
                       .descriptor = file, \
                       .offset = offset, \
                       .size = bytes, \
                       .detail = static_cast<std::uint32_t>(protection), \
                       .is_long = true}, \
                      [&] { return NEXT(name)(at, bytes, protection, flags, file, offset); }); \
  }
MMAP(mmap)
MMAP(mmap64)

}  // namespace stepscope::collect::posix
