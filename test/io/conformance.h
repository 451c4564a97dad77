// Calls a function by its name, prints what it did, and tells what should be recorded of it.
#ifndef STEPSCOPE_TEST_IO_CONFORMANCE_H
#define STEPSCOPE_TEST_IO_CONFORMANCE_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kNone = -9 };  // no such argument
enum { kUntouched = 77 };

// What the record of the call should say. Fields that are not set are not in the record.
struct expected {
  const char *file, *to;  // in the test's folder, or absolute
  const char* detail;     // "flags:66"
  long long fd, offset, size, ret;
  int error;
};

// The function as a program finds it that is linked with it.
void* function(const char* name);
// errno as the call left it goes into the line that is printed.
void told(const char* name, struct expected what);
// Prints a line that must be the same without the collector.
void line(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Sets `r` to the result; the record is described by the rest, which may use `r`.
#define CALL(R, name, params, args, ...) \
  do { \
    R(*called) params = (R(*) params)function(#name); \
    errno = kUntouched; \
    r = (long long)called args; \
    told(#name, (struct expected){.fd = kNone, .offset = kNone, .size = kNone, .ret = r, __VA_ARGS__}); \
  } while (0)

void check_files(void);
void check_names(void);
void check_streams(void);
void check_processes(void);
void check_queues(void);
void check_started_program(void);  // last: its calls are not listed

#endif
