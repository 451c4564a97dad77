// Functions that write to descriptors or replace them by calls inside libc, which are not seen. They are not
// recorded either, but what is known of the descriptors would be wrong after them.
#include <mntent.h>
#include <pty.h>
#include <unistd.h>
#include <utmp.h>

#include <cstdarg>
#include <cstdio>

#include "collect/posix/files.h"
#include "collect/posix/wrap.h"

namespace stepscope::collect::posix {
namespace {

void moves(int descriptor) {
  if (File* file = traced(descriptor)) file->asks.store(true, std::memory_order_relaxed);
}

void forget_standard() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) closed(descriptor);
}

template <class Function>
Function* found(std::atomic<Function*>& known, const char* name) {
  Function* next = next_once(known, name);
  return next != nullptr ? next : &Missing<Function>::call;
}

}  // namespace

WRAP(int, vdprintf, int file, const char* format, va_list values) {
  static std::atomic<decltype(&wrap_vdprintf)> known{nullptr};
  moves(file);
  return found<decltype(wrap_vdprintf)>(known, "vdprintf")(file, format, values);
}

WRAP(int, __vdprintf_chk, int file, int level, const char* format, va_list values) {
  static std::atomic<decltype(&wrap___vdprintf_chk)> known{nullptr};
  moves(file);
  return found<decltype(wrap___vdprintf_chk)>(known, "__vdprintf_chk")(file, level, format, values);
}

WRAP(int, dprintf, int file, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int bytes = wrap_vdprintf(file, format, values);
  va_end(values);
  return bytes;
}

WRAP(int, __dprintf_chk, int file, int level, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int bytes = wrap___vdprintf_chk(file, level, format, values);
  va_end(values);
  return bytes;
}

WRAP(int, daemon, int stays, int keeps) {
  static std::atomic<decltype(&wrap_daemon)> known{nullptr};
  const int result = found<decltype(wrap_daemon)>(known, "daemon")(stays, keeps);
  if (result == 0 && keeps == 0) forget_standard();
  return result;
}

WRAP(int, login_tty, int terminal) {
  static std::atomic<decltype(&wrap_login_tty)> known{nullptr};
  const int result = found<decltype(wrap_login_tty)>(known, "login_tty")(terminal);
  if (result != 0) return result;
  forget_standard();
  closed(terminal);
  return result;
}

WRAP(int, endmntent, FILE* table) {
  static std::atomic<decltype(&wrap_endmntent)> known{nullptr};
  if (table != nullptr) closed(::fileno(table));
  return found<decltype(wrap_endmntent)>(known, "endmntent")(table);
}

WRAP(pid_t, forkpty, int* terminal, char* name, const termios* how, const winsize* size) {
  static std::atomic<decltype(&wrap_forkpty)> known{nullptr};
  const pid_t child = found<decltype(wrap_forkpty)>(known, "forkpty")(terminal, name, how, size);
  if (child == 0) forget_standard();
  return child;
}

}  // namespace stepscope::collect::posix
