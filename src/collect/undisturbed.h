// A stretch of our own work that nothing may cut short, because it holds locks.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstddef>

namespace stepscope::collect {

/// While it lives, the thread is neither interrupted nor canceled. Signals of faults stay. glibc 2.36 cancels
/// a thread that forbade it after the cancellation was sent, unless it is deferred and the thread calls
/// nothing that is a place of cancellation, such as open: the functions below are none.
class Undisturbed {
 public:
  Undisturbed();
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  ~Undisturbed() noexcept(false);  ///< a cancellation that has waited unwinds the stack

 private:
  sigset_t signals_;
  int state_ = 0, type_ = 0;  ///< whether and how the thread may be canceled
};

/// As libc's open, close, read and pwrite.
int open_file(const char* path, int flags, mode_t mode = 0);
void close_file(int file);
ssize_t read_file(int file, void* to, std::size_t bytes);
ssize_t write_file(int file, const void* from, std::size_t bytes, off_t at);

}  // namespace stepscope::collect
