#include "collect/undisturbed.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

namespace stepscope::collect {

Undisturbed::Undisturbed() {
  ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
  sigset_t all;
  ::sigfillset(&all);
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &signals_);
}

// The type comes last: glibc 2.36 gives a thread that setcancelstate cancels no result.
// NOLINTNEXTLINE(bugprone-unsafe-to-allow-exceptions): a cancellation unwinds the stack
Undisturbed::~Undisturbed() noexcept(false) {
  ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
  ::pthread_setcancelstate(state_, nullptr);
  ::pthread_setcanceltype(type_, nullptr);
}

int open_file(const char* path, int flags, mode_t mode) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

void close_file(int file) { ::syscall(SYS_close, file); }

ssize_t read_file(int file, void* to, std::size_t bytes) { return ::syscall(SYS_read, file, to, bytes); }

ssize_t write_file(int file, const void* from, std::size_t bytes, off_t at) {
  return ::syscall(SYS_pwrite64, file, from, bytes, at);
}

}  // namespace stepscope::collect
