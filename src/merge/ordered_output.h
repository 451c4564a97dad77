// Writes pieces in the order of their indices; threads make them in any order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace stepscope::merge {

class OrderedOutput {
 public:
  /// `put` is called by one thread at a time; it returns false when the reader is gone.
  OrderedOutput(std::function<bool(std::string_view)> put, bool gzip) : put_(std::move(put)), gzip_(gzip) {}

  /// Waits until the pieces before `index` of this round are written. Compresses before it waits. Every index
  /// from 0 on must be written.
  void write(std::uint32_t index, std::string_view text);
  /// Writes between rounds, from one thread. The next round begins at index 0.
  void write(std::string_view text);
  /// A piece will never come: waiting threads return, and nothing more is written.
  void abandon();
  bool closed() const { return closed_; }

 private:
  std::function<bool(std::string_view)> put_;
  const bool gzip_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint32_t next_ = 0;
  bool closed_ = false, abandoned_ = false;
};

}  // namespace stepscope::merge
