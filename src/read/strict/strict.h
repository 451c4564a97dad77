// Tells strict JSON (RFC 8259) from what the forgiving readers here accept as well.
#pragma once

#include <string_view>

#include "read/strict/parts.h"

namespace stepscope::read {

/// Other readers recurse, and refuse what nests deeper.
inline constexpr std::size_t kMaxNesting = 256;

/// The end of the strict value at `p`, nullptr if it is not strict or ends behind `end`.
const char* strict_end(const char* p, const char* end);

/// Whether the text between a string's quotes is strict.
bool is_strict_odd_text(std::string_view text);
inline bool is_strict_text(std::string_view text) {
  const char* end = text.data() + text.size();
  return next_odd(text.data(), end) >= end || is_strict_odd_text(text);
}

}  // namespace stepscope::read
