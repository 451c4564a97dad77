// The I/O recording of this process. It begins with the first call on a path that is traced, so that a
// process without one leaves no file. A forked child has one of its own.
#pragma once

#include <atomic>
#include <cstdint>

#include "collect/clock.h"
#include "collect/recorder.h"

namespace stepscope::collect::posix {

enum Life : std::uint32_t { kNotBegun = 0, kOn = 1, kOff = 2 };

/// On a page that the kernel zeroes in a forked child, however it was forked.
extern std::atomic<std::uint32_t>* life;

/// What this thread is doing. A call inside our own work is passed on unseen, also one of a signal handler.
struct Mine {
  bool inside;
};
extern __attribute__((tls_model("initial-exec"))) constinit thread_local Mine mine;

class Inside {
 public:
  Inside() : before_(mine.inside) { mine.inside = true; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { mine.inside = before_; }

 private:
  const bool before_;
};

inline bool is_off() { return mine.inside || life->load(std::memory_order_relaxed) == kOff; }

/// Numbers of files are those of this recording; it changes in a forked child.
extern std::atomic<std::uint32_t> session;
/// Forks of this process so far: files that were open before share their position with a child.
extern std::atomic<std::uint32_t> forks;

/// The calling thread's place, with room for one call and its names; null: nothing can be recorded. To be
/// called inside.
Thread* place();

/// Finishes the recording, if it is this process's.
void finish();

extern const record::Clock kClock;
inline std::uint64_t now() { return ticks(kClock); }

}  // namespace stepscope::collect::posix
