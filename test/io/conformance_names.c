// Names and properties of files, directories, and paths in all their forms.
#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <utime.h>

#include "conformance.h"

static char big[8192];  // whatever a call fills

#define PATH1(name, params, args, ...) CALL(int, name, params, args, .file = "n", __VA_ARGS__)
#define FILE1(name, params, args) CALL(int, name, params, args, .file = "n", .fd = f)

static void check_asking(int f, int d) {
  long long r;
#define STAT(name) PATH1(name, (const char*, void*), ("n", big), )
  STAT(stat);
  STAT(stat64);
  STAT(lstat);
  STAT(lstat64);
  STAT(statfs);
  STAT(statfs64);
  STAT(statvfs);
  STAT(statvfs64);
#define FSTAT(name) FILE1(name, (int, void*), (f, big))
  FSTAT(fstat);
  FSTAT(fstat64);
  FSTAT(fstatfs);
  FSTAT(fstatfs64);
  FSTAT(fstatvfs);
  FSTAT(fstatvfs64);
#define XSTAT(name) PATH1(name, (int, const char*, void*), (1, "n", big), )
  XSTAT(__xstat);
  XSTAT(__xstat64);
  XSTAT(__lxstat);
  XSTAT(__lxstat64);
  FILE1(__fxstat, (int, int, void*), (1, f, big));
  FILE1(__fxstat64, (int, int, void*), (1, f, big));
  PATH1(__fxstatat, (int, int, const char*, void*, int), (1, AT_FDCWD, "n", big, 0), );
  PATH1(__fxstatat64, (int, int, const char*, void*, int), (1, AT_FDCWD, "n", big, 0), );
  PATH1(fstatat, (int, const char*, void*, int), (d, "../n", big, 0), );
  PATH1(fstatat64, (int, const char*, void*, int), (AT_FDCWD, "n", big, 0), );
  FILE1(fstatat, (int, const char*, void*, int), (f, "", big, AT_EMPTY_PATH));
  PATH1(statx, (int, const char*, int, unsigned, void*), (AT_FDCWD, "n", 0, STATX_SIZE, big), );
  FILE1(statx, (int, const char*, int, unsigned, void*), (f, "", AT_EMPTY_PATH, STATX_SIZE, big));
  CALL(int, stat, (const char*, void*), ("none", big), .file = "none", .error = ENOENT);
  CALL(int, fstat, (int, void*), (9999, big));
  PATH1(access, (const char*, int), ("n", R_OK), );
  PATH1(euidaccess, (const char*, int), ("n", R_OK), );
  PATH1(faccessat, (int, const char*, int, int), (d, "../n", R_OK, 0), );
  CALL(int, access, (const char*, int), ("none", R_OK), .file = "none", .error = ENOENT);
  CALL(int, symlink, (const char*, const char*), ("n", "soft"), .file = "soft");
  CALL(int, symlinkat, (const char*, int, const char*), ("n", d, "soft"), .file = "d/soft");
#define SOFT(name, params, args) CALL(ssize_t, name, params, args, .file = "soft")
  SOFT(readlink, (const char*, char*, size_t), ("soft", big, 100));
  SOFT(readlinkat, (int, const char*, char*, size_t), (AT_FDCWD, "soft", big, 100));
  SOFT(__readlink_chk, (const char*, char*, size_t, size_t), ("soft", big, 100, 8192));
  SOFT(__readlinkat_chk, (int, const char*, char*, size_t, size_t), (AT_FDCWD, "soft", big, 100, 8192));
  CALL(ssize_t, readlink, (const char*, char*, size_t), ("n", big, 100), .file = "n", .error = EINVAL);
#define REAL(name, params, args, path, failed) \
  { \
    char*(*called)params = (char*(*)params)function(#name); \
    const char* found = called args; \
    line("%s", found == NULL ? strerror(errno) : found); \
    told(#name, (struct expected){.file = path, \
                                  .fd = kNone, \
                                  .offset = kNone, \
                                  .size = kNone, \
                                  .ret = failed ? -1 : 0, \
                                  .error = failed}); \
  }
  REAL(realpath, (const char*, char*), ("soft", big), "soft", 0)
  REAL(__realpath_chk, (const char*, char*, size_t), ("soft", big, sizeof big), "soft", 0)
  REAL(realpath, (const char*, char*), ("none", NULL), "none", ENOENT)
  CALL(int, unlinkat, (int, const char*, int), (d, "soft", 0), .file = "d/soft");
}

static void check_changing(int f, int d) {
  long long r;
  PATH1(chmod, (const char*, mode_t), ("n", 0640), );
  FILE1(fchmod, (int, mode_t), (f, 0644));
  PATH1(fchmodat, (int, const char*, mode_t, int), (d, "../n", 0644, 0), );
  PATH1(chown, (const char*, uid_t, gid_t), ("n", -1, -1), );
  FILE1(fchown, (int, uid_t, gid_t), (f, -1, -1));
  PATH1(lchown, (const char*, uid_t, gid_t), ("n", -1, -1), );
  PATH1(fchownat, (int, const char*, uid_t, gid_t, int), (AT_FDCWD, "n", -1, -1, 0), );
  PATH1(utime, (const char*, const struct utimbuf*), ("n", NULL), );
  PATH1(utimes, (const char*, const struct timeval*), ("n", NULL), );
  PATH1(lutimes, (const char*, const struct timeval*), ("n", NULL), );
  PATH1(utimensat, (int, const char*, const struct timespec*, int), (AT_FDCWD, "n", NULL, 0), );
  PATH1(futimesat, (int, const char*, const struct timeval*), (AT_FDCWD, "n", NULL), );
  FILE1(futimens, (int, const struct timespec*), (f, NULL));
  FILE1(futimes, (int, const struct timeval*), (f, NULL));
  PATH1(truncate, (const char*, off_t), ("n", 100), );
  PATH1(truncate64, (const char*, off_t), ("n", 50), );
  CALL(int, truncate, (const char*, off_t), ("none", 5), .file = "none", .error = ENOENT);
#define TO(name, params, args, from, target) CALL(int, name, params, args, .file = from, .to = target)
  TO(link, (const char*, const char*), ("n", "n2"), "n", "n2");
  TO(linkat, (int, const char*, int, const char*, int), (AT_FDCWD, "n", d, "n3", 0), "n", "d/n3");
  TO(rename, (const char*, const char*), ("n2", "n4"), "n2", "n4");
  TO(renameat, (int, const char*, int, const char*), (AT_FDCWD, "n4", d, "n4"), "n4", "d/n4");
  TO(renameat2, (int, const char*, int, const char*, unsigned), (d, "n4", d, "n5", 0), "d/n4", "d/n5");
  CALL(int, rename, (const char*, const char*), ("none", "n5"), .file = "none", .to = "n5", .error = ENOENT);
  CALL(int, unlink, (const char*), ("d/n3"), .file = "d/n3");
  CALL(int, remove, (const char*), ("d/n5"), .file = "d/n5");
  CALL(int, unlink, (const char*), ("none"), .file = "none", .error = ENOENT);
  CALL(int, mkdir, (const char*, mode_t), ("e", 0755), .file = "e");
  CALL(int, mkdir, (const char*, mode_t), ("e/", 0755), .file = "e", .error = EEXIST);
  CALL(int, mkdirat, (int, const char*, mode_t), (d, "e", 0755), .file = "d/e");
  CALL(int, unlinkat, (int, const char*, int), (d, "e", AT_REMOVEDIR), .file = "d/e");
  CALL(int, mkfifo, (const char*, mode_t), ("e/p", 0600), .file = "e/p");
  CALL(int, mkfifoat, (int, const char*, mode_t), (d, "p", 0600), .file = "d/p");
  CALL(int, mknod, (const char*, mode_t, dev_t), ("e/q", S_IFIFO | 0600, 0), .file = "e/q");
  CALL(int, mknodat, (int, const char*, mode_t, dev_t), (d, "q", S_IFIFO | 0600, 0), .file = "d/q");
  dev_t none = 0;
  CALL(int, __xmknod, (int, const char*, mode_t, dev_t*), (0, "e/r", S_IFIFO | 0600, &none), .file = "e/r");
  CALL(int, rmdir, (const char*), ("e"), .file = "e", .error = ENOTEMPTY);
  static const char* const pipes[] = {"e/p", "e/q", "e/r", "d/p", "d/q"};
  for (int i = 0; i < 5; ++i) CALL(int, unlink, (const char*), (pipes[i]), .file = pipes[i]);
  CALL(int, rmdir, (const char*), ("e"), .file = "e");
}

static int takes_all(const void* entry) { return entry != NULL; }

static void check_listing(void) {
  long long r;
  DIR* (*open_folder)(const char*) = (DIR * (*)(const char*)) function("opendir");
  struct dirent* (*entry)(DIR*) = (struct dirent * (*)(DIR*)) function("readdir");
  DIR* list = open_folder("d");
  const int f = dirfd(list);
  told("opendir", (struct expected){.file = "d", .fd = f, .offset = kNone, .size = kNone});
#define READ(name) \
  for (int more = 1; more != 0;) { \
    errno = kUntouched; \
    const struct dirent* found = ((struct dirent * (*)(DIR*)) function(#name))(list); \
    more = found != NULL; \
    told(#name, (struct expected){.file = "d", .fd = f, .offset = kNone, .size = kNone, .ret = more}); \
  }
  READ(readdir)
  ((void (*)(DIR*))function("rewinddir"))(list);
  told("rewinddir", (struct expected){.file = "d", .fd = f, .offset = kNone, .size = kNone});
  READ(readdir64)
  CALL(int, closedir, (DIR*), (list), .file = "d", .fd = f);
  line("%d", open_folder("none") == NULL);
  told("opendir",
       (struct expected){
           .file = "none", .fd = kNone, .offset = kNone, .size = kNone, .ret = -1, .error = ENOENT});
  CALL(int, open, (const char*, int, ...), ("d", O_RDONLY | O_DIRECTORY), .file = "d", .fd = r);
  list = ((DIR * (*)(int)) function("fdopendir"))(f);
  told("fdopendir", (struct expected){.file = "d", .fd = f, .offset = kNone, .size = kNone});
  line("%d", entry(list) != NULL);
  told("readdir", (struct expected){.file = "d", .fd = f, .offset = kNone, .size = kNone, .ret = 1});
  CALL(int, closedir, (DIR*), (list), .file = "d", .fd = f);
  struct dirent** all;
#define SCAN(name) \
  CALL(int, name, (const char*, void*, int (*)(const void*), void*), ("d", &all, takes_all, NULL), \
       .file = "d"); \
  for (int i = 0; i < (int)r; ++i) free(all[i]); \
  free(all);
  SCAN(scandir)
  SCAN(scandir64)
}

// Relative to a changed folder, to a descriptor, with dots and doubled slashes.
static void check_paths(int d) {
  long long r;
  char name[PATH_MAX + 16];
  char where[PATH_MAX];
  (void)!getcwd(where, sizeof where);
#define STAT_AT(path, found) CALL(int, stat, (const char*, void*), (path, big), .file = found)
  STAT_AT("./n", "n");
  STAT_AT("d/../n", "n");
  STAT_AT("d//../d/./../n", "n");
  snprintf(name, sizeof name, "%s/n", where);
  STAT_AT(name, "n");
  snprintf(name, sizeof name, "%s//d/./../n", where);
  STAT_AT(name, "n");
  CALL(int, chdir, (const char*), ("d"), .file = "d");
  STAT_AT("../n", "n");
  STAT_AT(".", "d");
  CALL(int, chdir, (const char*), ("none"), .file = "d/none", .error = ENOENT);
  CALL(int, chdir, (const char*), (".."), .file = "");
  STAT_AT("n", "n");
  CALL(int, fchdir, (int), (d), .file = "d", .fd = d);
  STAT_AT("../n", "n");
  CALL(int, chdir, (const char*), (where), .file = "");
  memset(name, 'x', 300);
  name[300] = '\0';
  CALL(int, stat, (const char*, void*), (name, big), .file = name, .error = ENAMETOOLONG);
  memset(name, 'x', sizeof name);
  name[sizeof name - 1] = '\0';
  CALL(int, stat, (const char*, void*), (name, big));
  CALL(int, stat, (const char*, void*), ("/proc/self/status", big));
  CALL(int, stat, (const char*, void*), ("/etc/passwd", big));
}

void check_names(void) {
  long long r;
  CALL(int, mkdir, (const char*, mode_t), ("d", 0755), .file = "d");
  CALL(int, open, (const char*, int, ...), ("n", O_RDWR | O_CREAT, 0644), .file = "n", .fd = r);
  const int f = (int)r;
  CALL(int, open, (const char*, int, ...), ("d", O_RDONLY | O_DIRECTORY), .file = "d", .fd = r);
  const int d = (int)r;
  check_asking(f, d);
  check_changing(f, d);
  check_listing();
  check_paths(d);
  FILE1(close, (int), (f));
  CALL(int, close, (int), (d), .file = "d", .fd = d);
}
