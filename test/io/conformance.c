// Calls every function that the I/O collector replaces. Standard output: what each did, to be equal with and
// without the collector. Descriptor $EXPECTED, which is not traced: the records that it should have made.
#define _GNU_SOURCE
#include "conformance.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/syscall.h>

static int expected_to = -1;
static char folder[PATH_MAX];

static void out(int descriptor, const char* text, int length) {
  if (descriptor >= 0) (void)!syscall(SYS_write, descriptor, text, length);
}

void* function(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found != NULL) return found;
  line("%s is missing", name);
  exit(3);
}

void line(const char* format, ...) {
  char text[4096];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(text, sizeof text - 1, format, values);
  va_end(values);
  text[length] = '\n';
  out(1, text, length + 1);
}

static int add_path(char* text, size_t room, const char* name) {
  if (name == NULL) return snprintf(text, room, "\t-");
  return name[0] == '/' ? snprintf(text, room, "\t%s", name)
                        : snprintf(text, room, name[0] == '\0' ? "\t%s%s" : "\t%s/%s", folder, name);
}

static int add_number(char* text, size_t room, long long number) {
  return number == kNone ? snprintf(text, room, "\t-") : snprintf(text, room, "\t%lld", number);
}

void told(const char* name, struct expected what) {
  const int left = errno;
  line("%s %lld %s", name, what.ret, left == kUntouched ? "untouched" : strerror(left));
  if (what.file == NULL && what.to == NULL) return;  // not to be recorded
  char text[3 * PATH_MAX];
  size_t at = snprintf(text, sizeof text, "%s", name);
  at += add_path(text + at, sizeof text - at, what.file);
  at += add_path(text + at, sizeof text - at, what.to);
  const long long numbers[] = {what.fd, what.offset, what.size, what.ret,
                               what.error == 0 ? kNone : what.error};
  for (int i = 0; i < 5; ++i) at += add_number(text + at, sizeof text - at, numbers[i]);
  at += snprintf(text + at, sizeof text - at, "\t%s\n", what.detail == NULL ? "-" : what.detail);
  out(expected_to, text, (int)at);
}

int main(void) {
  const char* number = getenv("EXPECTED");
  expected_to = number == NULL ? -1 : atoi(number);
  if (syscall(SYS_getcwd, folder, sizeof folder) < 0) return 2;
  check_files();
  check_names();
  check_streams();
  check_processes();
#ifdef HAS_QUEUES
  check_queues();
#endif
  check_started_program();
  return 0;
}
