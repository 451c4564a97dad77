#include "base/text.h"

namespace stepscope {
namespace {

struct Lead {
  int more;          ///< continuation bytes that must follow
  unsigned char lo;  ///< bounds of the first continuation byte
  unsigned char hi;
};

/// Table 3-7 of the Unicode standard, chapter 3: which second bytes a first byte allows.
Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1, 0x80, 0xBF};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2, 0x80, 0xBF};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {3, 0x80, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {0, 0, 0};
}

/// True if JSON needs no escape for it.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_json_code(std::string& out, char32_t code) {
  switch (code) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      is_control(code) ? append_json_escape(out, code) : append_utf8(out, code);
  }
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const Lead lead = lead_of(first);
  if (lead.more == 0) {
    text.remove_prefix(1);
    return first < 0x80 ? first : kReplacement;
  }
  char32_t code = first & (0x3F >> lead.more);
  for (int i = 1; i <= lead.more; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const unsigned char lo = i == 1 ? lead.lo : 0x80, hi = i == 1 ? lead.hi : 0xBF;
    if (at >= text.size() || byte(at) < lo || byte(at) > hi) {
      text.remove_prefix(at);
      return kReplacement;
    }
    code = (code << 6) | (byte(at) & 0x3F);
  }
  text.remove_prefix(static_cast<std::size_t>(lead.more) + 1);
  return code;
}

void append_json_escape(std::string& out, char32_t code) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 15];
}

void append_json(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    out.append(text.begin(), end);
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    if (!text.empty()) append_json_code(out, take_code_point(text));
  }
  out += '"';
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

}  // namespace stepscope
