// Streams of stdio.
#define _GNU_SOURCE
#include <sys/stat.h>

#include "conformance.h"

#define ON(R, name, params, args, ...) CALL(R, name, params, args, .file = "s", .fd = f, __VA_ARGS__)

static FILE* stream;
static int f;

static void opened(const char* function_name, const char* file, FILE* made) {
  stream = made;
  f = made == NULL ? -1 : fileno(made);
  told(function_name, (struct expected){.file = file,
                                        .fd = made == NULL ? kNone : f,
                                        .offset = kNone,
                                        .size = kNone,
                                        .ret = made == NULL ? -1 : 0,
                                        .error = made == NULL ? ENOENT : 0});
}

static void closed(void) {
  long long r;
  ON(int, fclose, (FILE*), (stream), );
}

#define OPEN(name, path, mode) \
  opened(#name, path, ((FILE * (*)(const char*, const char*)) function(#name))(path, mode))

static int with_list(const char* name, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int done = ((int (*)(FILE*, const char*, va_list))function(name))(stream, format, values);
  va_end(values);
  return done;
}

static int checked_with_list(const char* name, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int done = ((int (*)(FILE*, int, const char*, va_list))function(name))(stream, 1, format, values);
  va_end(values);
  return done;
}

#define MOVED(name, from, bytes, ...) \
  told(#name, \
       (struct expected){.file = "s", .fd = f, .offset = from, .size = kNone, .ret = bytes, __VA_ARGS__})

static void check_writing(void) {
  long long r;
  OPEN(fopen, "none/s", "r");
  OPEN(fopen, "s", "w");
  closed();
  OPEN(fopen64, "s", "w+");
#define WRITE(name, from) \
  ON(size_t, name, (const void*, size_t, size_t, FILE*), ("0123456789", 2, 5, stream), .offset = from, \
     .size = 10, .ret = 10)
  WRITE(fwrite, 0);
  WRITE(fwrite_unlocked, 10);
  ON(int, fputs, (const char*, FILE*), ("line 1\n", stream), .offset = 20, .size = 7, .ret = 7);
  ON(int, fputs_unlocked, (const char*, FILE*), ("line 2\n", stream), .offset = 27, .size = 7, .ret = 7);
  fputc('c', stream);
  ON(int, fprintf, (FILE*, const char*, ...), (stream, "%d,%s\n", 12, "ab"), .offset = 35);
  ON(int, __fprintf_chk, (FILE*, int, const char*, ...), (stream, 1, "%.1f\n", 1.5), .offset = 41);
  r = with_list("vfprintf", "%d\n", 7);
  MOVED(vfprintf, 45, r);
  r = checked_with_list("__vfprintf_chk", "%d\n", 77);
  MOVED(__vfprintf_chk, 47, r);
  errno = ENOENT;
  fprintf(stream, "%m\n");
  MOVED(fprintf, 50, 26);
  ON(int, fflush, (FILE*), (stream), );
  struct stat now;
  stat("s", &now);
  told("stat", (struct expected){.file = "s", .fd = kNone, .offset = kNone, .size = kNone});
  line("%lld bytes", (long long)now.st_size);
}

static void check_seeking(void) {
  long long r;
  ON(int, fseek, (FILE*, long, int), (stream, 5, SEEK_SET), .offset = 5);
  ON(int, fseeko, (FILE*, off_t, int), (stream, 1, SEEK_CUR), .offset = 6, .detail = "whence:1");
  ON(int, fseeko64, (FILE*, off_t, int), (stream, -6, SEEK_END), .offset = 70, .detail = "whence:2");
  ON(int, fseek, (FILE*, long, int), (stream, -1, SEEK_SET), .error = EINVAL);
  ON(long, ftell, (FILE*), (stream), .offset = 70);
  ON(off_t, ftello, (FILE*), (stream), .offset = 70);
  ON(off_t, ftello64, (FILE*), (stream), .offset = 70);
  fpos_t at;
  ON(int, fgetpos, (FILE*, fpos_t*), (stream, &at), .offset = 70);
  ON(int, fgetpos64, (FILE*, fpos_t*), (stream, &at), .offset = 70);
  ((void (*)(FILE*))function("rewind"))(stream);
  told("rewind", (struct expected){.file = "s", .fd = f, .offset = 0, .size = kNone});
  ON(int, fsetpos, (FILE*, const fpos_t*), (stream, &at), .offset = 70);
  ON(int, fsetpos64, (FILE*, const fpos_t*), (stream, &at), .offset = 70);
  rewind(stream);
  told("rewind", (struct expected){.file = "s", .fd = f, .offset = 0, .size = kNone});
}

static void check_reading(void) {
  long long r;
  char text[100];
#define READ(name, from) \
  ON(size_t, name, (void*, size_t, size_t, FILE*), (text, 1, 5, stream), .offset = from, .size = 5)
  READ(fread, 0);
  READ(fread_unlocked, 5);
  ON(size_t, __fread_chk, (void*, size_t, size_t, size_t, FILE*), (text, 100, 1, 5, stream), .offset = 10,
     .size = 5);
  ON(size_t, __fread_unlocked_chk, (void*, size_t, size_t, size_t, FILE*), (text, 100, 1, 5, stream),
     .offset = 15, .size = 5);
#define LINE(name, params, args, from, bytes, ...) \
  { \
    char*(*called)params = (char*(*)params)function(#name); \
    const char* found = called args; \
    line("%s", found == NULL ? "end" : found); \
    told(#name, (struct expected){.file = "s", .fd = f, .offset = from, .ret = bytes, __VA_ARGS__}); \
  }
  LINE(fgets, (char*, int, FILE*), (text, 50, stream), 20, 7, .size = 50)
  ungetc(fgetc(stream), stream);
  LINE(fgets_unlocked, (char*, int, FILE*), (text, 50, stream), 27, 7, .size = 50)
  line("%c", fgetc(stream));
  LINE(__fgets_chk, (char*, size_t, int, FILE*), (text, 100, 50, stream), 35, 6, .size = 50)
  char* made = NULL;
  size_t room = 0;
  ON(ssize_t, getline, (char**, size_t*, FILE*), (&made, &room, stream), .offset = 41);
  ON(ssize_t, getdelim, (char**, size_t*, int, FILE*), (&made, &room, '\n', stream), .offset = 45);
  ON(ssize_t, __getdelim, (char**, size_t*, int, FILE*), (&made, &room, '7', stream), .offset = 47);
  int number = 0;
  ON(int, fscanf, (FILE*, const char*, ...), (stream, "%d", &number), .offset = 48, .ret = 1);
  r = with_list("vfscanf", "%*s", &number);
  MOVED(vfscanf, 49, 3);
  ON(int, __isoc99_fscanf, (FILE*, const char*, ...), (stream, "%*s"), .offset = 52, .ret = 5);
  r = with_list("__isoc99_vfscanf", "%*s");
  MOVED(__isoc99_vfscanf, 57, 5);
  line("%d", number);
  ON(size_t, fread, (void*, size_t, size_t, FILE*), (text, 1, 50, stream), .offset = 62, .size = 50);
  LINE(fgets, (char*, int, FILE*), (text, 50, stream), 76, 0, .size = 50)
  ON(ssize_t, getline, (char**, size_t*, FILE*), (&made, &room, stream), .offset = 76, .ret = 0);
  free(made);
  clearerr(stream);
}

static void check_mixing(void) {
  long long r;
  char text[16];
  // The descriptor is where stdio has read to; the stream is where the program is.
  ON(off_t, lseek, (int, off_t, int), (f, 3, SEEK_SET), .offset = 3);
  ON(ssize_t, read, (int, void*, size_t), (f, text, 4), .offset = 3, .size = 4);
  closed();
  OPEN(fopen, "s", "a");
  ON(int, fputs, (const char*, FILE*), ("end", stream), .offset = 76, .size = 3, .ret = 3);
  ON(size_t, fread, (void*, size_t, size_t, FILE*), (text, 1, 5, stream), .offset = 79, .size = 5, .ret = -1,
     .error = EBADF);
  closed();
  OPEN(fopen, "s", "r");
  stream = ((FILE * (*)(const char*, const char*, FILE*)) function("freopen"))("s", "r+", stream);
  told("freopen", (struct expected){.file = "s", .fd = f, .offset = kNone, .size = kNone});
  ON(size_t, fread, (void*, size_t, size_t, FILE*), (text, 1, 5, stream), .offset = 0, .size = 5);
  stream = ((FILE * (*)(const char*, const char*, FILE*)) function("freopen64"))("s", "r", stream);
  told("freopen64", (struct expected){.file = "s", .fd = f, .offset = kNone, .size = kNone});
  closed();
  CALL(int, open, (const char*, int, ...), ("s", O_RDONLY), .file = "s", .fd = r);
  f = (int)r;
  ON(off_t, lseek, (int, off_t, int), (f, 20, SEEK_SET), .offset = 20);
  stream = ((FILE * (*)(int, const char*)) function("fdopen"))(f, "r");
  told("fdopen", (struct expected){.file = "s", .fd = f, .offset = kNone, .size = kNone});
  LINE(fgets, (char*, int, FILE*), (text, 16, stream), 20, 7, .size = 16)
  closed();
  stream = fopen("/proc/self/status", "r");
  line("%s", fgets(text, sizeof text, stream));
  fclose(stream);
}

static void check_making(void) {
  long long r;
  char name[32], used[32];
#define MADE(function_name, params, ...) \
  { \
    strcpy(name, "t-XXXXXX.x"); \
    if (strstr(#function_name, "temps") == NULL) name[8] = '\0'; \
    r = ((int(*) params)function(#function_name))(name, ##__VA_ARGS__); \
    strcpy(used, name); \
    told(#function_name, \
         (struct expected){.file = used, .fd = r, .offset = kNone, .size = kNone, .ret = r}); \
    const int made = (int)r; \
    CALL(ssize_t, write, (int, const void*, size_t), (made, "abc", 3), .file = used, .fd = made, \
         .offset = 0, .size = 3); \
    CALL(int, close, (int), (made), .file = used, .fd = made); \
    CALL(int, unlink, (const char*), (used), .file = used); \
  }
  MADE(mkstemp, (char*))
  MADE(mkstemp64, (char*))
  MADE(mkostemp, (char*, int), O_CLOEXEC)
  MADE(mkostemp64, (char*, int), O_CLOEXEC)
  MADE(mkstemps, (char*, int), 2)
  MADE(mkstemps64, (char*, int), 2)
  MADE(mkostemps, (char*, int, int), 2, O_CLOEXEC)
  MADE(mkostemps64, (char*, int, int), 2, O_CLOEXEC)
#define TMP(name) \
  { \
    FILE* made = ((FILE * (*)(void)) function(#name))(); \
    char path[64], found[128]; \
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(made)); \
    found[readlink(path, found, sizeof found - 1)] = '\0'; \
    found[strcspn(found, " ")] = '\0'; \
    const int number = fileno(made); \
    told(#name, (struct expected){.file = found, .fd = number, .offset = kNone, .size = kNone}); \
    CALL(int, fclose, (FILE*), (made), .file = found, .fd = number); \
  }
  TMP(tmpfile)
  TMP(tmpfile64)
  FILE* child = popen("echo from a child", "r");
  char text[64];
  const int pipe_end = fileno(child);
  line("%s", fgets(text, sizeof text, child));
  CALL(int, pclose, (FILE*), (child));
  // The descriptor is another file's now.
  CALL(int, open, (const char*, int, ...), ("s", O_RDONLY), .file = "s", .fd = r);
  line("%d", (int)r == pipe_end);
  CALL(int, close, (int), (pipe_end), .file = "s", .fd = pipe_end);
}

// Standard output becomes a traced file, and then again what it was.
static void check_standard_output(void) {
  const int kept = dup(1);
  long long r = (long long)freopen("o", "w", stdout);
  struct expected what = {.file = "o", .fd = 1, .offset = kNone, .size = kNone};
  const int lengths[] = {printf("%d\n", 5),
                         ((int (*)(int, const char*, ...))function("__printf_chk"))(1, "%s\n", "ab"),
                         puts("cde")};
  va_list none;
  memset(&none, 0, sizeof none);
  ((int (*)(const char*, va_list))function("vprintf"))("f\n", none);
  ((int (*)(int, const char*, va_list))function("__vprintf_chk"))(1, "g\n", none);
  fflush(stdout);
  dup2(kept, 1);
  told("freopen", what);
#define PRINTED(name, at, bytes, asked) \
  what.offset = at, what.size = asked, what.ret = bytes; \
  told(#name, what)
  PRINTED(printf, 0, 2, kNone);
  PRINTED(__printf_chk, 2, 3, kNone);
  PRINTED(puts, 5, 4, 4);
  PRINTED(vprintf, 9, 2, kNone);
  PRINTED(__vprintf_chk, 11, 2, kNone);
  told("fflush", (struct expected){.file = "o", .fd = 1, .offset = kNone, .size = kNone});
  line("%d %d %d %d", r != 0, lengths[0], lengths[1], lengths[2]);
  close(kept);
}

void check_streams(void) {
  check_writing();
  check_seeking();
  check_reading();
  check_mixing();
  check_making();
  check_standard_output();
}
