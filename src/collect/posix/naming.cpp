// Calls about names and properties of files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "collect/posix/call.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {

#define PARAMS(...) __VA_ARGS__
#define BY_PATH(Result, name, params, args) \
  WRAP(Result, name, params) { \
    return about_path({.function = IoFunction::name}, AT_FDCWD, path, [&] { return NEXT(name) args; }); \
  }
#define BY_PATH_AT(Result, name, params, args) \
  WRAP(Result, name, params) { \
    return about_path_at({.function = IoFunction::name}, folder, path, [&] { return NEXT(name) args; }); \
  }
#define BY_PATH_INTO(Result, name, params, args, room) \
  WRAP(Result, name, params) { \
    return about_path({.function = IoFunction::name}, AT_FDCWD, path, [&] { return NEXT(name) args; }, \
                      {out, room}); \
  }
#define BY_PATH_AT_INTO(Result, name, params, args, room) \
  WRAP(Result, name, params) { \
    return about_path_at({.function = IoFunction::name}, folder, path, [&] { return NEXT(name) args; }, \
                         {out, room}); \
  }
#define BY_FILE(Result, name, params, args) \
  WRAP(Result, name, params) { \
    return about_file({.function = IoFunction::name, .descriptor = file}, [&] { return NEXT(name) args; }); \
  }
/// Folders may have been renamed that the current one is in.
inline int renamed(int result) {
  if (result == 0) forget_folder();
  return result;
}
#define SAME(result) result
#define BY_PATHS(name, after, params, args, folder, path, to_folder, to) \
  WRAP(int, name, params) { \
    const auto next = [&] { return after(NEXT(name) args); }; \
    return about_paths({.function = IoFunction::name}, folder, path, to_folder, to, next); \
  }

BY_PATH_INTO(int, stat, PARAMS(const char* path, struct stat* out), (path, out), sizeof *out)
BY_PATH_INTO(int, stat64, PARAMS(const char* path, struct stat64* out), (path, out), sizeof *out)
BY_PATH_INTO(int, lstat, PARAMS(const char* path, struct stat* out), (path, out), sizeof *out)
BY_PATH_INTO(int, lstat64, PARAMS(const char* path, struct stat64* out), (path, out), sizeof *out)
BY_FILE(int, fstat, PARAMS(int file, struct stat* out), (file, out))
BY_FILE(int, fstat64, PARAMS(int file, struct stat64* out), (file, out))
BY_PATH_AT_INTO(int, fstatat, PARAMS(int folder, const char* path, struct stat* out, int flags),
                (folder, path, out, flags), sizeof *out)
BY_PATH_AT_INTO(int, fstatat64, PARAMS(int folder, const char* path, struct stat64* out, int flags),
                (folder, path, out, flags), sizeof *out)
BY_PATH_AT_INTO(int, statx, PARAMS(int folder, const char* path, int flags, unsigned mask, struct statx* out),
                (folder, path, flags, mask, out), sizeof *out)
BY_PATH_INTO(int, __xstat, PARAMS(int version, const char* path, struct stat* out), (version, path, out),
             sizeof *out)
BY_PATH_INTO(int, __xstat64, PARAMS(int version, const char* path, struct stat64* out), (version, path, out),
             sizeof *out)
BY_PATH_INTO(int, __lxstat, PARAMS(int version, const char* path, struct stat* out), (version, path, out),
             sizeof *out)
BY_PATH_INTO(int, __lxstat64, PARAMS(int version, const char* path, struct stat64* out), (version, path, out),
             sizeof *out)
BY_FILE(int, __fxstat, PARAMS(int version, int file, struct stat* out), (version, file, out))
BY_FILE(int, __fxstat64, PARAMS(int version, int file, struct stat64* out), (version, file, out))
BY_PATH_AT_INTO(int, __fxstatat,
                PARAMS(int version, int folder, const char* path, struct stat* out, int flags),
                (version, folder, path, out, flags), sizeof *out)
BY_PATH_AT_INTO(int, __fxstatat64,
                PARAMS(int version, int folder, const char* path, struct stat64* out, int flags),
                (version, folder, path, out, flags), sizeof *out)
BY_PATH_INTO(int, statfs, PARAMS(const char* path, struct statfs* out), (path, out), sizeof *out)
BY_PATH_INTO(int, statfs64, PARAMS(const char* path, struct statfs64* out), (path, out), sizeof *out)
BY_PATH_INTO(int, statvfs, PARAMS(const char* path, struct statvfs* out), (path, out), sizeof *out)
BY_PATH_INTO(int, statvfs64, PARAMS(const char* path, struct statvfs64* out), (path, out), sizeof *out)
BY_FILE(int, fstatfs, PARAMS(int file, struct statfs* out), (file, out))
BY_FILE(int, fstatfs64, PARAMS(int file, struct statfs64* out), (file, out))
BY_FILE(int, fstatvfs, PARAMS(int file, struct statvfs* out), (file, out))
BY_FILE(int, fstatvfs64, PARAMS(int file, struct statvfs64* out), (file, out))
BY_PATH(int, access, PARAMS(const char* path, int how), (path, how))
BY_PATH(int, euidaccess, PARAMS(const char* path, int how), (path, how))
BY_PATH_AT(int, faccessat, PARAMS(int folder, const char* path, int how, int flags),
           (folder, path, how, flags))
BY_PATH_INTO(ssize_t, readlink, PARAMS(const char* path, char* out, size_t room), (path, out, room), room)
BY_PATH_INTO(ssize_t, __readlink_chk, PARAMS(const char* path, char* out, size_t bytes, size_t room),
             (path, out, bytes, room), bytes)
BY_PATH_AT_INTO(ssize_t, readlinkat, PARAMS(int folder, const char* path, char* out, size_t room),
                (folder, path, out, room), room)
BY_PATH_AT_INTO(ssize_t, __readlinkat_chk,
                PARAMS(int folder, const char* path, char* out, size_t bytes, size_t room),
                (folder, path, out, bytes, room), bytes)

/// libc ends at the first component that is missing: its failure does not tell that the path is a text.
#define REALPATH(name, room, params, args) \
  WRAP(char*, name, params) { \
    const auto next = [&] { return NEXT(name) args; }; \
    if (is_off() || !is_text(path)) return next(); \
    return about_path({.function = IoFunction::name}, AT_FDCWD, path, next, {out, room}); \
  }
REALPATH(realpath, PATH_MAX, PARAMS(const char* path, char* out), (path, out))
REALPATH(__realpath_chk, bytes, PARAMS(const char* path, char* out, size_t bytes), (path, out, bytes))

#define SCANDIR(name, Entry) \
  BY_PATH(int, name, \
          PARAMS(const char* path, Entry*** found, int (*takes)(const Entry*), \
                 int (*compare)(const Entry**, const Entry**)), \
          (path, found, takes, compare))
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

BY_PATH(int, mkdir, PARAMS(const char* path, mode_t mode), (path, mode))
BY_PATH_AT(int, mkdirat, PARAMS(int folder, const char* path, mode_t mode), (folder, path, mode))
BY_PATH(int, rmdir, PARAMS(const char* path), (path))
BY_PATH(int, unlink, PARAMS(const char* path), (path))
BY_PATH_AT(int, unlinkat, PARAMS(int folder, const char* path, int flags), (folder, path, flags))
BY_PATH(int, remove, PARAMS(const char* path), (path))
BY_PATH(int, truncate, PARAMS(const char* path, off64_t bytes), (path, bytes))
BY_PATH(int, truncate64, PARAMS(const char* path, off64_t bytes), (path, bytes))
BY_PATH(int, chmod, PARAMS(const char* path, mode_t mode), (path, mode))
BY_FILE(int, fchmod, PARAMS(int file, mode_t mode), (file, mode))
BY_PATH_AT(int, fchmodat, PARAMS(int folder, const char* path, mode_t mode, int flags),
           (folder, path, mode, flags))
BY_PATH(int, chown, PARAMS(const char* path, uid_t user, gid_t group), (path, user, group))
BY_FILE(int, fchown, PARAMS(int file, uid_t user, gid_t group), (file, user, group))
BY_PATH(int, lchown, PARAMS(const char* path, uid_t user, gid_t group), (path, user, group))
BY_PATH_AT(int, fchownat, PARAMS(int folder, const char* path, uid_t user, gid_t group, int flags),
           (folder, path, user, group, flags))
BY_PATH(int, utime, PARAMS(const char* path, const utimbuf* times), (path, times))
BY_PATH(int, utimes, PARAMS(const char* path, const timeval* times), (path, times))
BY_PATH_AT(int, utimensat, PARAMS(int folder, const char* path, const timespec* times, int flags),
           (folder, path, times, flags))
BY_FILE(int, futimens, PARAMS(int file, const timespec* times), (file, times))
BY_PATH_AT(int, futimesat, PARAMS(int folder, const char* path, const timeval* times), (folder, path, times))
BY_PATH(int, lutimes, PARAMS(const char* path, const timeval* times), (path, times))
BY_FILE(int, futimes, PARAMS(int file, const timeval* times), (file, times))
BY_PATH(int, mkfifo, PARAMS(const char* path, mode_t mode), (path, mode))
BY_PATH(int, mknod, PARAMS(const char* path, mode_t mode, dev_t device), (path, mode, device))
BY_PATH_AT(int, mkfifoat, PARAMS(int folder, const char* path, mode_t mode), (folder, path, mode))
BY_PATH_AT(int, mknodat, PARAMS(int folder, const char* path, mode_t mode, dev_t device),
           (folder, path, mode, device))
BY_PATH(int, __xmknod, PARAMS(int version, const char* path, mode_t mode, dev_t* device),
        (version, path, mode, device))

BY_PATHS(rename, renamed, PARAMS(const char* path, const char* to), (path, to), AT_FDCWD, path, AT_FDCWD, to)
BY_PATHS(renameat, renamed, PARAMS(int folder, const char* path, int to_folder, const char* to),
         (folder, path, to_folder, to), folder, path, to_folder, to)
BY_PATHS(renameat2, renamed,
         PARAMS(int folder, const char* path, int to_folder, const char* to, unsigned flags),
         (folder, path, to_folder, to, flags), folder, path, to_folder, to)
BY_PATHS(link, SAME, PARAMS(const char* path, const char* to), (path, to), AT_FDCWD, path, AT_FDCWD, to)
BY_PATHS(linkat, SAME, PARAMS(int folder, const char* path, int to_folder, const char* to, int flags),
         (folder, path, to_folder, to, flags), folder, path, to_folder, to)
BY_PATH(int, symlink, PARAMS(const char* target, const char* path), (target, path))
BY_PATH_AT(int, symlinkat, PARAMS(const char* target, int folder, const char* path), (target, folder, path))

WRAP(int, chdir, const char* path) {
  const auto next = [&] {
    const int result = NEXT(chdir)(path);
    if (result == 0) forget_folder();
    return result;
  };
  if (is_off() || !is_text(path)) return next();
  const Named file = named(AT_FDCWD, path);  // before: it may be relative to the old folder
  Call call{.function = IoFunction::chdir};
  const int result = measured(call, next);
  if (file.number != 0) tell(call, file);
  return result;
}
WRAP(int, fchdir, int file) {
  const int result =
      about_file({.function = IoFunction::fchdir, .descriptor = file}, [&] { return NEXT(fchdir)(file); });
  if (result == 0) forget_folder();
  return result;
}

}  // namespace stepscope::collect::posix
