// Compares short texts of equal length, such as keys and names: faster than a call of memcmp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stepscope {

inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  const auto differs = [&](auto word, std::size_t at) {
    auto other = word;
    std::memcpy(&word, a + at, sizeof word);
    std::memcpy(&other, b + at, sizeof other);
    return word != other;
  };
  if (size < 4) {
    for (std::size_t i = 0; i < size; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  if (size < 8) return !differs(std::uint32_t{}, 0) && !differs(std::uint32_t{}, size - 4);
  for (std::size_t i = 0; i + 8 < size; i += 8)
    if (differs(std::uint64_t{}, i)) return false;
  return !differs(std::uint64_t{}, size - 8);
}

}  // namespace stepscope
