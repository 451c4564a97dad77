// Numbers, appended as JSON.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace stepscope::record {

inline void put(std::string& out, std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

/// The shortest digits that round-trip. `number` must be finite.
inline void put_real(std::string& out, double number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

/// ns as µs with three decimals.
inline void put_us(std::string& out, std::int64_t ns) {
  if (ns < 0) out += '-';
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  put(out, static_cast<std::int64_t>(size / 1000));
  const auto rest = static_cast<unsigned>(size % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

}  // namespace stepscope::record
