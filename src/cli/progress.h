// One line on stderr while reading takes long: only on a terminal, only after a second, gone when done.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace stepscope::cli {

class Progress {
 public:
  /// Never prints if `wanted` is false.
  explicit Progress(bool wanted) : wanted_(wanted) {}
  ~Progress();
  /// Bytes read, and total bytes or -1. From any thread.
  void tell(std::int64_t done, std::int64_t total);
  /// The current activity, if bytes cannot measure it, e.g. "analysing". From any thread.
  void tell(const std::string& activity);

 private:
  using Clock = std::chrono::steady_clock;
  bool due();
  void draw(const std::string& line);

  const bool wanted_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  bool drawn_ = false;
  std::mutex mutex_;
};

}  // namespace stepscope::cli
