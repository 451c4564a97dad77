// Descriptors: open, read, write, move, map, copy, close.
#define _GNU_SOURCE
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "conformance.h"

typedef long long wide;
#define WAYS (O_RDWR | O_CREAT | O_TRUNC)

static void check_opening(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("a", WAYS, 0644), .file = "a", .fd = r, .detail = "flags:578");
  close((int)r);
  told("close", (struct expected){.file = "a", .fd = r, .offset = kNone, .size = kNone});
#define OPENED(name, params, args) \
  CALL(int, name, params, args, .file = "a", .fd = r); \
  { \
    const int made = (int)r; \
    CALL(int, close, (int), (made), .file = "a", .fd = made); \
  }
  OPENED(open64, (const char*, int, ...), ("a", O_RDONLY))
  OPENED(openat, (int, const char*, int, ...), (AT_FDCWD, "./a", O_RDONLY))
  OPENED(openat64, (int, const char*, int, ...), (AT_FDCWD, ".//a", O_RDONLY))
  OPENED(creat, (const char*, mode_t), ("a", 0600))
  OPENED(creat64, (const char*, mode_t), ("a", 0600))
  OPENED(__open_2, (const char*, int), ("a", O_RDONLY))
  OPENED(__open64_2, (const char*, int), ("a", O_RDONLY))
  OPENED(__openat_2, (int, const char*, int), (AT_FDCWD, "a", O_RDONLY))
  OPENED(__openat64_2, (int, const char*, int), (AT_FDCWD, "a", O_RDONLY))
  CALL(int, open, (const char*, int, ...), ("none", O_RDONLY), .file = "none", .error = ENOENT);
  CALL(int, open, (const char*, int, ...), ("a/b", O_RDONLY), .file = "a/b", .error = ENOTDIR);
  CALL(int, open, (const char*, int, ...), ("a", O_RDWR | O_CREAT | O_EXCL, 0600), .file = "a",
       .error = EEXIST);
  CALL(int, open, (const char*, int, ...), ("", O_RDONLY));
  CALL(int, open, (const char*, int, ...), (NULL, O_RDONLY));
  CALL(int, open, (const char*, int, ...), ((const char*)8, O_RDONLY));
  CALL(int, close, (int), (-1));
  CALL(int, close, (int), (9999));
  CALL(int, openat, (int, const char*, int, ...), (9999, "a", O_RDONLY));
}

static void check_moving(void) {
  long long r;
  char bytes[100] = "0123456789";
  CALL(int, open, (const char*, int, ...), ("m", WAYS, 0644), .file = "m", .fd = r);
  const int f = (int)r;
#define ON(R, name, params, args, ...) CALL(R, name, params, args, .file = "m", .fd = f, __VA_ARGS__)
  ON(ssize_t, write, (int, const void*, size_t), (f, bytes, 10), .offset = 0, .size = 10);
  ON(ssize_t, write, (int, const void*, size_t), (f, bytes, 10), .offset = 10, .size = 10);
  ON(off_t, lseek, (int, off_t, int), (f, 4, SEEK_SET), .offset = 4);
  ON(ssize_t, read, (int, void*, size_t), (f, bytes, 6), .offset = 4, .size = 6);
  ON(ssize_t, __read_chk, (int, void*, size_t, size_t), (f, bytes, 6, 100), .offset = 10, .size = 6);
  ON(ssize_t, read, (int, void*, size_t), (f, bytes, 90), .offset = 16, .size = 90);
  ON(ssize_t, read, (int, void*, size_t), (f, bytes, 90), .offset = 20, .size = 90);
  ON(off_t, lseek64, (int, off_t, int), (f, -3, SEEK_END), .offset = 17, .detail = "whence:2");
  ON(off_t, lseek, (int, off_t, int), (f, -30, SEEK_CUR), .error = EINVAL);
  ON(ssize_t, pread, (int, void*, size_t, off_t), (f, bytes, 5, 2), .offset = 2, .size = 5);
  ON(ssize_t, pread64, (int, void*, size_t, off_t), (f, bytes, 5, 18), .offset = 18, .size = 5);
  ON(ssize_t, __pread_chk, (int, void*, size_t, off_t, size_t), (f, bytes, 5, 2, 9), .offset = 2, .size = 5);
  ON(ssize_t, __pread64_chk, (int, void*, size_t, off_t, size_t), (f, bytes, 5, 2, 9), .offset = 2,
     .size = 5);
  ON(ssize_t, pread, (int, void*, size_t, off_t), (f, bytes, 5, -1), .size = 5, .error = EINVAL);
  ON(ssize_t, pwrite, (int, const void*, size_t, off_t), (f, bytes, 5, 1LL << 33), .offset = 1LL << 33,
     .size = 5);
  ON(ssize_t, pwrite64, (int, const void*, size_t, off_t), (f, bytes, 5, 50), .offset = 50, .size = 5);
  ON(ssize_t, read, (int, void*, size_t), (f, (void*)8, 3), .offset = 17, .size = 3, .error = EFAULT);
  struct iovec two[] = {{bytes, 3}, {bytes + 10, 4}};
#define VECTOR "iovcnt:2"
  ON(ssize_t, writev, (int, const struct iovec*, int), (f, two, 2), .offset = 17, .size = 7,
     .detail = VECTOR);
  ON(ssize_t, readv, (int, const struct iovec*, int), (f, two, 2), .offset = 24, .size = 7, .detail = VECTOR);
  ON(ssize_t, readv, (int, const struct iovec*, int), (f, (void*)8, 2), .offset = 31, .error = EFAULT);
  ON(ssize_t, readv, (int, const struct iovec*, int), (f, two, -1), .offset = 31, .error = EINVAL);
#define AT_VECTOR(name, at) \
  ON(ssize_t, name, (int, const struct iovec*, int, off_t), (f, two, 2, at), .offset = at, .size = 7, \
     .detail = VECTOR)
  AT_VECTOR(preadv, 3);
  AT_VECTOR(preadv64, 4);
  AT_VECTOR(pwritev, 3);
  AT_VECTOR(pwritev64, 4);
#define AT_VECTOR_2(name, at, where) \
  ON(ssize_t, name, (int, const struct iovec*, int, off_t, int), (f, two, 2, at, 0), .offset = where, \
     .size = 7, .detail = VECTOR)
  AT_VECTOR_2(preadv2, 3, 3);
  AT_VECTOR_2(preadv64v2, -1, 31);
  AT_VECTOR_2(pwritev2, -1, 38);
  AT_VECTOR_2(pwritev64v2, 5, 5);
  ON(ssize_t, read, (int, void*, size_t), (f, bytes, 1), .offset = 45, .size = 1);
  ON(int, close, (int), (f), );
  CALL(ssize_t, read, (int, void*, size_t), (f, bytes, 6));
  CALL(ssize_t, write, (int, const void*, size_t), (-1, bytes, 6));
}

static void check_appending(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("m", O_RDWR | O_APPEND), .file = "m", .fd = r);
  const int f = (int)r;
  const long long end = (1LL << 33) + 5;
  char bytes[8] = "";
  ON(ssize_t, write, (int, const void*, size_t), (f, bytes, 8), .offset = end, .size = 8);
  ON(off_t, lseek, (int, off_t, int), (f, 2, SEEK_SET), .offset = 2);
  ON(ssize_t, read, (int, void*, size_t), (f, bytes, 3), .offset = 2, .size = 3);
  ON(ssize_t, write, (int, const void*, size_t), (f, bytes, 2), .offset = end + 8, .size = 2);
  CALL(int, fcntl, (int, int, ...), (f, F_SETFL, 0), .file = "m", .fd = f, .detail = "cmd:4");
  CALL(int, fcntl64, (int, int, ...), (f, F_GETFL), .file = "m", .fd = f, .detail = "cmd:3");
  ON(off_t, lseek, (int, off_t, int), (f, 2, SEEK_SET), .offset = 2);
  ON(ssize_t, write, (int, const void*, size_t), (f, bytes, 2), .offset = 2, .size = 2);
  ON(int, close, (int), (f), );
  CALL(int, open, (const char*, int, ...), ("m", O_RDONLY), .file = "m", .fd = r);
  CALL(ssize_t, write, (int, const void*, size_t), (f, bytes, 2), .file = "m", .fd = f, .offset = 0,
       .size = 2, .error = EBADF);
  ON(int, close, (int), (f), );
}

static void check_copies_of_descriptors(void) {
  long long r;
  char bytes[64];
  CALL(int, open, (const char*, int, ...), ("m", O_RDWR), .file = "m", .fd = r);
  const int f = (int)r;
  CALL(int, dup, (int), (f), .file = "m", .fd = f);
  const int g = (int)r;
  CALL(int, dup2, (int, int), (f, 40), .file = "m", .fd = f);
  CALL(int, dup2, (int, int), (f, f), .file = "m", .fd = f);
  CALL(int, dup3, (int, int, int), (f, 41, O_CLOEXEC), .file = "m", .fd = f);
  CALL(int, dup3, (int, int, int), (f, f, 0), .file = "m", .fd = f, .error = EINVAL);
  CALL(int, fcntl, (int, int, ...), (f, F_DUPFD, 42), .file = "m", .fd = f);
  CALL(int, fcntl, (int, int, ...), (f, F_DUPFD_CLOEXEC, 43), .file = "m", .fd = f);
  CALL(int, dup, (int), (9999));
  const int all[] = {f, g, 40, 41, 42, 43};
  for (int i = 0; i < 6; ++i)
    CALL(ssize_t, read, (int, void*, size_t), (all[i], bytes, 3), .file = "m", .fd = all[i], .offset = 3 * i,
         .size = 3);
  CALL(int, close, (int), (f), .file = "m", .fd = f);
  CALL(ssize_t, read, (int, void*, size_t), (43, bytes, 3), .file = "m", .fd = 43, .offset = 18, .size = 3);
  CALL(int, close_range, (unsigned, unsigned, int), (41, 42, 0), .file = "m", .fd = 41);
  told("close_range", (struct expected){.file = "m", .fd = 42, .offset = kNone, .size = kNone});
  CALL(int, close_range, (unsigned, unsigned, int), (9, 3, 0));
  CALL(int, dup2, (int, int), (g, 39), .file = "m", .fd = g);
  CALL(int, close, (int), (g), .file = "m", .fd = g);
  CALL(int, close, (int), (39), .file = "m", .fd = 39);
  CALL(int, close, (int), (40), .file = "m", .fd = 40);
  line("closefrom");
  ((void (*)(int))function("closefrom"))(41);
  told("closefrom", (struct expected){.file = "m", .fd = 43, .offset = kNone, .size = kNone});
}

static void check_syncing_and_sizes(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("m", O_RDWR), .file = "m", .fd = r);
  const int f = (int)r;
  ON(int, ftruncate, (int, off_t), (f, 9000), .size = 9000);
  ON(int, ftruncate64, (int, off_t), (f, 8192), .size = 8192);
  ON(int, ftruncate, (int, off_t), (f, -1), .error = EINVAL, .size = -1);
  ON(int, fsync, (int), (f), );
  ON(int, fdatasync, (int), (f), );
  ON(int, syncfs, (int), (f), );
  ON(int, sync_file_range, (int, off_t, off_t, unsigned), (f, 0, 4096, 2), .offset = 0);
  ON(int, posix_fallocate, (int, off_t, off_t), (f, 0, 100), .offset = 0, .size = 100);
  ON(int, posix_fallocate64, (int, off_t, off_t), (f, 0, 100), .offset = 0, .size = 100);
  ON(int, posix_fallocate, (int, off_t, off_t), (f, 0, -1), .offset = 0, .size = -1, .ret = -1,
     .error = EINVAL);
  ON(int, fallocate, (int, int, off_t, off_t), (f, 0, 10, 100), .offset = 10, .size = 100);
  ON(int, fallocate64, (int, int, off_t, off_t), (f, 0, 10, 100), .offset = 10, .size = 100);
  ON(int, posix_fadvise, (int, off_t, off_t, int), (f, 5, 10, POSIX_FADV_RANDOM), .offset = 5, .size = 10);
  ON(int, posix_fadvise64, (int, off_t, off_t, int), (f, 5, 10, POSIX_FADV_NORMAL), .offset = 5, .size = 10);
  ON(ssize_t, readahead, (int, off_t, size_t), (f, 0, 4096), .offset = 0, .size = 4096);
  ON(int, flock, (int, int), (f, LOCK_EX), );
  ON(int, flock, (int, int), (f, LOCK_UN), );
  ON(int, lockf, (int, int, off_t), (f, F_LOCK, 10), );
  ON(int, lockf64, (int, int, off_t), (f, F_ULOCK, 10), );
#define MAPPED(name) \
  { \
    void* (*map)(void*, size_t, int, int, int, off_t) = function(#name); \
    char* at = map(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, f, 4096); \
    told(#name, (struct expected){.file = "m", \
                                  .fd = f, \
                                  .offset = 4096, \
                                  .size = 4096, \
                                  .detail = "prot:3", \
                                  .ret = at == MAP_FAILED}); \
    at[1] = 1; \
    CALL(int, msync, (void*, size_t, int), (at, 4096, MS_SYNC), .file = "m", .offset = 4096); \
    munmap(at, 4096); \
  }
  MAPPED(mmap)
  MAPPED(mmap64)
  void* (*map)(void*, size_t, int, int, int, off_t) = function("mmap");
  line("%d %s", map(NULL, 0, PROT_READ, MAP_SHARED, f, 0) == MAP_FAILED, strerror(errno));
  told("mmap",
       (struct expected){.file = "m", .fd = f, .offset = 0, .size = kNone, .ret = -1, .error = EINVAL});
  line("%d", map(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  CALL(int, msync, (void*, size_t, int), ((void*)4096, 4096, MS_SYNC));
  ON(int, close, (int), (f), );
}

static void check_copying(void) {
  long long r;
  CALL(int, open, (const char*, int, ...), ("m", O_RDONLY), .file = "m", .fd = r);
  const int f = (int)r;
  CALL(int, open, (const char*, int, ...), ("copy", WAYS, 0600), .file = "copy", .fd = r);
  const int to = (int)r;
#define COPY(name, params, args, ...) \
  CALL(ssize_t, name, params, args, .file = "m", .to = "copy", .fd = f, __VA_ARGS__)
  COPY(sendfile, (int, int, off_t*, size_t), (to, f, NULL, 100), .offset = 0, .size = 100);
  COPY(sendfile, (int, int, off_t*, size_t), (to, f, NULL, 50), .offset = 100, .size = 50);
  off_t at = 7;
  COPY(sendfile64, (int, int, off_t*, size_t), (to, f, &at, 10), .offset = 7, .size = 10);
  line("%lld", (long long)at);
  COPY(copy_file_range, (int, off_t*, int, off_t*, size_t, unsigned), (f, NULL, to, NULL, 20, 0),
       .offset = 150, .size = 20);
  COPY(copy_file_range, (int, off_t*, int, off_t*, size_t, unsigned), (f, (void*)8, to, NULL, 20, 0),
       .size = 20, .error = EFAULT);
  CALL(ssize_t, write, (int, const void*, size_t), (to, "x", 1), .file = "copy", .fd = to, .offset = 180,
       .size = 1);
  int ends[2];
  (void)!pipe(ends);
  CALL(ssize_t, splice, (int, off_t*, int, off_t*, size_t, unsigned), (f, NULL, ends[1], NULL, 30, 0),
       .file = "m", .fd = f, .offset = 170, .size = 30);
  CALL(ssize_t, splice, (int, off_t*, int, off_t*, size_t, unsigned), (ends[0], NULL, to, NULL, 30, 0),
       .to = "copy", .fd = to, .offset = 181, .size = 30);
  CALL(ssize_t, read, (int, void*, size_t), (f, &at, 1), .file = "m", .fd = f, .offset = 200, .size = 1);
  CALL(int, close, (int), (ends[0]));
  CALL(int, close, (int), (ends[1]));
  ON(int, close, (int), (f), );
  CALL(int, close, (int), (to), .file = "copy", .fd = to);
}

void check_files(void) {
  check_opening();
  check_moving();
  check_appending();
  check_copies_of_descriptors();
  check_syncing_and_sizes();
  check_copying();
}
