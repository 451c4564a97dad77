// Text helpers: trimming, UTF-8, JSON strings.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace stepscope {

/// `text` without leading and trailing blanks, tabs and line ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&texts)[N]) {
  return std::find(std::begin(texts), std::end(texts), text) != std::end(texts);
}

/// Replaces bytes that are not UTF-8.
inline constexpr char32_t kReplacement = 0xFFFD;

/// Takes the next code point off the front of `text`, which must not be empty. Bytes that are not UTF-8
/// (overlong forms, surrogates and cut sequences included) give kReplacement, one per maximal wrong prefix.
char32_t take_code_point(std::string_view& text);

inline void append_utf8(std::string& out, char32_t code) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | ((code >> 18) & 7));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// C0, DEL, C1 (terminals obey them) and the two line separators of JavaScript.
constexpr bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
}

/// Appends \uXXXX; `code` is below 0x10000.
void append_json_escape(std::string& out, char32_t code);

/// Appends `text` in quotes as JSON: controls escaped, bytes that are not UTF-8 replaced by U+FFFD.
void append_json(std::string& out, std::string_view text);
std::string json_text(std::string_view text);

}  // namespace stepscope
