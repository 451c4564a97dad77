// Shapes of ops' inputs while they are cheap: where recording them costs more than a share of the program's
// time, they are recorded in windows, with pauses between them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace stepscope::collect {

/// When shapes are recorded. Any thread may call it. Ticks and nanoseconds are the caller's.
class ShapeWindows {
 public:
  static constexpr std::int64_t kWindow = 1'000'000'000;       ///< ns, of shapes in all ops
  static constexpr std::int64_t kLongest = 20'000'000'000;     ///< ns, of a pause
  static constexpr double kMaxShare = 0.01;                    ///< of the program's time
  static constexpr std::uint32_t kTimed = 16;                  ///< one op of so many is timed
  static constexpr std::uint64_t kLongestSignature = 1 << 14;  ///< ticks; a longer one was interrupted
  /// What shapes cost for each tick of writing them: PyTorch copies the inputs of each op for a callback that
  /// asks for them, which cold caches make dearer than in a loop. shelf_boxes of bench/unseen took 6.5 %
  /// longer with shapes in 39 % of its ops and 2.7 % without, where 2.5 promised 1 %.
  static constexpr double kWithCopies = 5;

  struct Turn {
    bool on;
    std::optional<double>
        cost;  ///< share of the program's time, when shapes are turned off for the first time
  };

  /// The first turn() opens the first window.
  void begin() {
    on_ = told_ = false;
    due_ = 0;
  }
  /// Nothing changes any more.
  void end() { due_ = kNever; }

  void timed(std::uint64_t ticks) {
    spent_.fetch_add(std::min(ticks, kLongestSignature), std::memory_order_relaxed);
  }

  /// What to change now, if anything. After a turn the caller changes what PyTorch calls.
  std::optional<Turn> turn(std::uint64_t ticks, std::int64_t ns) {
    std::int64_t due = due_.load(std::memory_order_relaxed);
    if (ns < due || !due_.compare_exchange_strong(due, kNever)) return std::nullopt;
    if (!on_) {
      on_ = true;
      open(ticks, ns);
      return Turn{true, std::nullopt};
    }
    const double elapsed = static_cast<double>(ticks - opened_);
    const double cost = static_cast<double>(spent_.load(std::memory_order_relaxed)) * kTimed * kWithCopies;
    const double share = elapsed > 0 ? cost / elapsed : 0;
    if (share <= kMaxShare) {
      open(ticks, ns);
      return std::nullopt;
    }
    on_ = false;
    const double pause = static_cast<double>(kWindow) * (share / kMaxShare - 1);
    due_ = ns + std::min(kLongest, std::max(kWindow, static_cast<std::int64_t>(pause)));
    return Turn{false, told_.exchange(true) ? std::nullopt : std::optional(std::min(share, 1.0))};
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void open(std::uint64_t ticks, std::int64_t ns) {
    opened_ = ticks;
    spent_ = 0;
    due_ = ns + kWindow;
  }

  std::atomic<std::int64_t> due_{kNever};  ///< whoever replaces it by kNever owns the rest until the next due
  std::atomic<std::uint64_t> spent_{0}, opened_{0};
  std::atomic<bool> on_{false}, told_{false};
};

}  // namespace stepscope::collect
