// Text that is built without the heap.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::collect::posix {

/// Ends with a zero. What does not fit is left out.
template <std::size_t kBytes>
struct Line {
  char text[kBytes];
  std::size_t length = 0;

  void add(std::string_view more) {
    const std::size_t fits = more.size() < kBytes - 1 - length ? more.size() : kBytes - 1 - length;
    std::memcpy(text + length, more.data(), fits);
    text[length += fits] = '\0';
  }
  void add(std::uint64_t number) {
    char digits[24];
    add({digits,
         static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  }
};

}  // namespace stepscope::collect::posix
