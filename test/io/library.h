// What a call of a library did, and what should be recorded of it.
#ifndef STEPSCOPE_TEST_IO_LIBRARY_H
#define STEPSCOPE_TEST_IO_LIBRARY_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kNone = -9 };  // the record has no such field

struct expected {
  const char *file, *object;  // file: in the working folder; NULL: nothing is to be recorded
  long long offset, size, ret, flags;
};

static FILE* expected_to;

// Begins the file PREFIX.NUMBER with the process's id.
static inline void begin_expected(int number) {
  char name[PATH_MAX];
  const char* prefix = getenv("EXPECTED");
  if (prefix == NULL) return;
  snprintf(name, sizeof name, "%s.%d", prefix, number);
  expected_to = fopen(name, "w");
  if (expected_to != NULL) fprintf(expected_to, "%d\n", (int)getpid());
}

static inline void add_number(long long number) {
  if (number == kNone)
    fprintf(expected_to, "\t-");
  else
    fprintf(expected_to, "\t%lld", number);
}

static inline void told(const char* name, struct expected what) {
  char folder[PATH_MAX];
  if (expected_to == NULL || what.file == NULL || getcwd(folder, sizeof folder) == NULL) return;
  fprintf(expected_to, "%s\t%s/%s\t%s", name, folder, what.file, what.object == NULL ? "-" : what.object);
  add_number(what.offset);
  add_number(what.size);
  add_number(what.ret);
  add_number(what.flags);
  fprintf(expected_to, "\n");
  fflush(expected_to);
}

// Calls the function, prints whether it succeeded, and tells what should be recorded.
#define TOLD(name, result, ...) \
  do { \
    printf(#name " %d\n", (int)((result) < 0)); \
    told(#name, \
         (struct expected){ \
             .offset = kNone, .size = kNone, .flags = kNone, .ret = (result) < 0 ? -1 : 0, __VA_ARGS__}); \
  } while (0)

#endif
