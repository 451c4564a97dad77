// Appends text and numbers to one buffer, fast enough that writing a trace is bound by the disk.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::make_trace {

class Text {
 public:
  Text& operator<<(std::string_view text) {
    buffer_.append(text);
    return *this;
  }
  Text& operator<<(char c) {
    buffer_.push_back(c);
    return *this;
  }
  template <std::integral Number>
  Text& operator<<(Number number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    buffer_.append(digits, end);
    return *this;
  }

  /// Shortest text that reads back as the same double.
  Text& decimal(double number) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    buffer_.append(digits, end);
    return *this;
  }

  /// Microseconds with three decimals. `ns` is not negative.
  Text& micros(std::int64_t ns) {
    const auto rest = static_cast<int>(ns % 1000);
    *this << ns / 1000;
    const char tail[4] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                          static_cast<char>('0' + rest % 10)};
    buffer_.append(tail, 4);
    return *this;
  }

  std::string_view view() const { return buffer_; }
  std::size_t size() const { return buffer_.size(); }
  void drop_last() { buffer_.pop_back(); }
  void clear() { buffer_.clear(); }

 private:
  std::string buffer_;
};

}  // namespace stepscope::make_trace
