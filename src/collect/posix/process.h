// The I/O recording of this process. It begins with the first call on a path that is traced, so that a
// process without one leaves no file. A forked child has one of its own.
#pragma once

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "collect/clock.h"
#include "collect/posix/hot.h"
#include "collect/recorder.h"
#include "record/io/libraries.h"

namespace stepscope::collect::posix {

enum Life : std::uint32_t { kNotBegun = 0, kOn = 1, kOff = 2 };

/// Where this process's Life is: on a page that the kernel zeroes in a forked child, however it was forked;
/// or elsewhere, and then it is kOff in all children, too.
HOT_DATA extern std::atomic<std::atomic<std::uint32_t>*> life;
inline std::uint32_t life_now(std::memory_order order = std::memory_order_relaxed) {
  return life.load(std::memory_order_relaxed)->load(order);
}

/// What this thread is doing.
struct Mine {
  /// 0, or the outermost Inside of our own work, which is on the stack, or kElsewhere. Calls inside our own
  /// work are passed on unseen, also those of a signal handler.
  std::uintptr_t inside;
  char* scratch;  ///< kScratch bytes; null: not needed yet
  std::uint32_t vforks;
  void* vfork_returns[4];                              ///< where open calls of vfork return to
  std::uintptr_t library_calls[record::kIoLibraries];  ///< see Outermost
};
extern __attribute__((tls_model("initial-exec"))) constinit thread_local Mine mine;

/// Mine::inside during fork, and in the child of a vfork: it has its parent's memory but other descriptors.
inline constexpr std::uintptr_t kElsewhere = UINTPTR_MAX;

class Inside {
 public:
  __attribute__((always_inline)) Inside() : before_(mine.inside), mark_(kMark) {
    if (before_ == 0) mine.inside = reinterpret_cast<std::uintptr_t>(this);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mine.inside = before_;
  }
  bool is_intact() const { return mark_ == kMark; }

 private:
  static constexpr std::uint64_t kMark = 0x9D1C'5EED'1A57'C0DE;
  const std::uintptr_t before_;
  const volatile std::uint64_t mark_;  ///< overwritten soon after the stack is left
};

/// False if a signal handler has jumped out of our work; then it is over.
bool is_still_inside();

inline bool is_inside() {
  if (mine.inside == 0) [[likely]]
    return false;
  return is_still_inside();
}

inline bool is_off() { return life_now() == kOff || is_inside(); }

/// Where the recordings are written; "" where nothing is to be recorded.
extern char recordings_folder[];

/// Numbers of files are those of this recording; it changes in a forked child.
extern std::atomic<std::uint32_t> session;
/// Forks of this process so far: files that were open before share their position with a child.
extern std::atomic<std::uint32_t> forks;

/// The calling thread's place, with room for one call and its names; null: nothing can be recorded. To be
/// called inside.
Thread* place();

/// Room for a folder and a path that is relative to it.
inline constexpr std::size_t kScratch = std::size_t{2} * PATH_MAX;
/// The thread's kScratch bytes, for use inside; null: no memory.
char* scratch();

/// Finishes the recording, if it is this process's.
void finish();

/// The same, and nothing is done any more, here and in forked children. `why`: a sentence for the report.
void end_for_good(std::string_view why);

HOT_DATA extern const record::Clock kClock;
[[gnu::cold]] std::uint64_t slow_now();
inline std::uint64_t now() {
  if (kClock != record::Clock::tsc) [[unlikely]]
    return slow_now();
  return ticks(record::Clock::tsc);
}

}  // namespace stepscope::collect::posix
