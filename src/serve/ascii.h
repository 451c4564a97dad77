// Letters of ASCII without their case; other bytes stay as they are.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace stepscope::serve {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

}  // namespace stepscope::serve
