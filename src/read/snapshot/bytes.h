// A window on a ByteSource, for readers that go forward only.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope::read {

class Bytes {
 public:
  static constexpr std::size_t kWindow = std::size_t{1} << 20, kPadded = 64;

  explicit Bytes(ByteSource& source) : source_(source), buffer_(kWindow + kPadded, '\0') {
    at_ = end_ = buffer_.data();
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// Whether `count` bytes, at most kWindow, are at hand; reads more if not. Behind the last byte are zeros.
  bool need(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) >= count) return true;
    return refill(count);
  }
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void pass(std::size_t count) { at_ += count; }
  void go(const char* to) { at_ = to; }
  /// Skips `count` bytes; false if the file ends before.
  bool skip(std::uint64_t count);
  /// Offset of at() in the uncompressed bytes.
  std::int64_t offset() const { return offset_ + (at_ - buffer_.data()); }
  std::int64_t total() const { return offset_ + (end_ - buffer_.data()); }
  static constexpr std::string_view kExpands = "expands to more than 100 times its stored size";
  /// Whether reading ended because of that.
  bool expands() const { return expands_; }

 private:
  bool refill(std::size_t count);

  ByteSource& source_;
  std::string buffer_;
  std::int64_t offset_ = 0;  ///< of the buffer's first byte
  char* end_;
  const char* at_;
  bool ended_ = false, expands_ = false;
};

}  // namespace stepscope::read
