#include "collect/python/line_table.h"

#include <cstdint>

namespace stepscope::collect {
namespace {

constexpr int kNoColumns = 13, kLong = 14, kNoLocation = 15, kOneLine = 10;

bool begins_entry(char byte) { return (byte & 0x80) != 0; }

/// Reads six bits a byte, lowest first; the sign is the lowest bit.
std::optional<std::int64_t> signed_number(std::string_view table, std::size_t at) {
  constexpr int kMaxShift = 30;
  std::int64_t value = 0;
  for (int shift = 0; shift <= kMaxShift && at < table.size() && !begins_entry(table[at]); shift += 6, ++at) {
    value |= std::int64_t{table[at] & 0x3f} << shift;
    if ((table[at] & 0x40) == 0) return (value & 1) != 0 ? -(value >> 1) : value >> 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> line_at(std::string_view table, int first_line, std::ptrdiff_t unit) {
  if (unit < 0) return first_line;
  std::int64_t line = first_line;
  std::ptrdiff_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const char head = table[at++];
    if (!begins_entry(head)) return std::nullopt;
    const int kind = head >> 3 & 0xf;
    end += (head & 7) + 1;
    if (kind == kNoColumns || kind == kLong) {
      const auto delta = signed_number(table, at);
      if (!delta) return std::nullopt;
      line += *delta;
    } else if (kind >= kOneLine && kind < kNoColumns) {
      line += kind - kOneLine;
    }
    if (unit < end)
      return kind == kNoLocation || line < 0 || line > INT32_MAX ? std::nullopt
                                                                 : std::optional(static_cast<int>(line));
    while (at < table.size() && !begins_entry(table[at])) ++at;
  }
  return std::nullopt;
}

}  // namespace stepscope::collect
