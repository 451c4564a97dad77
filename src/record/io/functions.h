// The calls of the file system that the I/O collector records. A function's number is part of the format: new
// ones go to the end of the list.
#pragma once

#include <cstdint>
#include <string_view>

namespace stepscope::record {

/// What a call does, for people who do not want to know 120 names.
enum class IoKind : std::uint8_t {
  open,
  close,
  read,
  write,
  seek,
  sync,
  stat,    ///< asks about a file: stat, access, readlink
  list,    ///< directories: opendir, readdir
  change,  ///< names and properties: rename, unlink, mkdir, chmod, truncate
  map,     ///< mmap of a file
  advise   ///< posix_fadvise, readahead, flock, fcntl
};

// clang-format off
#define STEPSCOPE_IO_FUNCTIONS(X) \
  X(open, open) X(open64, open) X(openat, open) X(openat64, open) X(creat, open) X(creat64, open) \
  X(__open_2, open) X(__open64_2, open) X(__openat_2, open) X(__openat64_2, open) \
  X(close, close) X(close_range, close) X(closefrom, close) \
  X(read, read) X(__read_chk, read) X(pread, read) X(pread64, read) X(__pread_chk, read) X(__pread64_chk, read) \
  X(readv, read) X(preadv, read) X(preadv64, read) X(preadv2, read) X(preadv64v2, read) \
  X(write, write) X(pwrite, write) X(pwrite64, write) \
  X(writev, write) X(pwritev, write) X(pwritev64, write) X(pwritev2, write) X(pwritev64v2, write) \
  X(sendfile, read) X(sendfile64, read) X(copy_file_range, read) X(splice, read) \
  X(lseek, seek) X(lseek64, seek) \
  X(fsync, sync) X(fdatasync, sync) X(sync_file_range, sync) X(syncfs, sync) X(msync, sync) \
  X(mmap, map) X(mmap64, map) \
  X(stat, stat) X(stat64, stat) X(lstat, stat) X(lstat64, stat) X(fstat, stat) X(fstat64, stat) \
  X(fstatat, stat) X(fstatat64, stat) X(statx, stat) \
  X(__xstat, stat) X(__xstat64, stat) X(__lxstat, stat) X(__lxstat64, stat) X(__fxstat, stat) X(__fxstat64, stat) \
  X(__fxstatat, stat) X(__fxstatat64, stat) \
  X(statfs, stat) X(statfs64, stat) X(statvfs, stat) X(statvfs64, stat) \
  X(access, stat) X(faccessat, stat) X(euidaccess, stat) \
  X(readlink, stat) X(readlinkat, stat) X(__readlink_chk, stat) X(__readlinkat_chk, stat) \
  X(realpath, stat) X(__realpath_chk, stat) \
  X(opendir, list) X(fdopendir, list) X(readdir, list) X(readdir64, list) X(closedir, list) X(rewinddir, list) \
  X(scandir, list) X(scandir64, list) \
  X(mkdir, change) X(mkdirat, change) X(rmdir, change) X(unlink, change) X(unlinkat, change) X(remove, change) \
  X(rename, change) X(renameat, change) X(renameat2, change) X(link, change) X(linkat, change) \
  X(symlink, change) X(symlinkat, change) \
  X(truncate, change) X(truncate64, change) X(ftruncate, change) X(ftruncate64, change) \
  X(posix_fallocate, change) X(posix_fallocate64, change) X(fallocate, change) X(fallocate64, change) \
  X(chmod, change) X(fchmod, change) X(fchmodat, change) X(chown, change) X(fchown, change) X(lchown, change) \
  X(fchownat, change) X(utime, change) X(utimes, change) X(utimensat, change) X(futimens, change) \
  X(mkfifo, change) X(mknod, change) X(__xmknod, change) \
  X(chdir, stat) X(fchdir, stat) \
  X(posix_fadvise, advise) X(posix_fadvise64, advise) X(readahead, advise) X(flock, advise) X(lockf, advise) \
  X(lockf64, advise) \
  X(dup, open) X(dup2, open) X(dup3, open) X(fcntl, advise) X(fcntl64, advise) \
  X(fopen, open) X(fopen64, open) X(freopen, open) X(freopen64, open) X(fdopen, open) X(fclose, close) \
  X(fread, read) X(fread_unlocked, read) X(__fread_chk, read) X(__fread_unlocked_chk, read) \
  X(fgets, read) X(fgets_unlocked, read) X(__fgets_chk, read) X(getline, read) X(getdelim, read) \
  X(__getdelim, read) \
  X(fwrite, write) X(fwrite_unlocked, write) X(fputs, write) X(fputs_unlocked, write) \
  X(fprintf, write) X(__fprintf_chk, write) X(vfprintf, write) X(__vfprintf_chk, write) \
  X(fseek, seek) X(fseeko, seek) X(fseeko64, seek) X(rewind, seek) X(fsetpos, seek) X(fsetpos64, seek) \
  X(ftell, seek) X(ftello, seek) X(ftello64, seek) X(fflush, sync) \
  X(io_submit, read) X(io_uring_submit, read) X(io_uring_submit_and_wait, read) \
  X(mkstemp, open) X(mkstemp64, open) X(mkostemp, open) X(mkostemp64, open) \
  X(mkstemps, open) X(mkstemps64, open) X(mkostemps, open) X(mkostemps64, open) X(tmpfile, open) X(tmpfile64, open) \
  X(fstatfs, stat) X(fstatfs64, stat) X(fstatvfs, stat) X(fstatvfs64, stat) \
  X(futimesat, change) X(futimes, change) X(lutimes, change) X(mkfifoat, change) X(mknodat, change) \
  X(fgetpos, seek) X(fgetpos64, seek) X(pclose, close) \
  X(fscanf, read) X(vfscanf, read) X(__isoc99_fscanf, read) X(__isoc99_vfscanf, read) \
  X(printf, write) X(vprintf, write) X(__printf_chk, write) X(__vprintf_chk, write) X(puts, write)
// clang-format on

// NOLINTBEGIN(bugprone-reserved-identifier): libc's own names
enum class IoFunction : std::uint8_t {
#define STEPSCOPE_IO_ENUM(name, kind) name,
  STEPSCOPE_IO_FUNCTIONS(STEPSCOPE_IO_ENUM)
#undef STEPSCOPE_IO_ENUM
      count_
};
// NOLINTEND(bugprone-reserved-identifier)

inline constexpr std::uint32_t kIoFunctions = static_cast<std::uint32_t>(IoFunction::count_);
static_assert(kIoFunctions <= 256);

inline constexpr std::string_view kIoNames[] = {
#define STEPSCOPE_IO_NAME(name, kind) #name,
    STEPSCOPE_IO_FUNCTIONS(STEPSCOPE_IO_NAME)
#undef STEPSCOPE_IO_NAME
};

inline constexpr IoKind kIoKinds[] = {
#define STEPSCOPE_IO_KIND(name, kind) IoKind::kind,
    STEPSCOPE_IO_FUNCTIONS(STEPSCOPE_IO_KIND)
#undef STEPSCOPE_IO_KIND
};

}  // namespace stepscope::record
