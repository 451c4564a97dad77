#include "read/strict/parts.h"

#include <charconv>
#include <cstring>

#include "base/text.h"

namespace stepscope::read {
namespace {

bool read_unit(std::string_view text, std::uint32_t& unit) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return false;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return error == std::errc{} && end == text.data() + 6;
}

const char* pass_digits(const char* p) {
  while (is_digit(*p)) ++p;
  return p;
}

/// The end of the strict number at `p`, nullptr if there is none.
const char* strict_number_end(const char* p) {
  if (*p == '-') ++p;
  const char* whole = p;
  p = pass_digits(p);
  if (p == whole || (*whole == '0' && p - whole > 1)) return nullptr;
  if (*p == '.') {
    const char* fraction = ++p;
    if ((p = pass_digits(p)) == fraction) return nullptr;
  }
  if (*p != 'e' && *p != 'E') return p;
  if (*++p == '+' || *p == '-') ++p;
  const char* exponent = p;
  p = pass_digits(p);
  return p == exponent ? nullptr : p;
}

}  // namespace

Escape escape_at(std::string_view text) {
  constexpr std::string_view kSimple = "\"\\/bfnrt";
  if (text.size() > 1 && kSimple.find(text[1]) != kSimple.npos) return {2, true, true};
  std::uint32_t unit = 0, low = 0;
  if (!read_unit(text, unit)) return {1, false, true};
  if (unit < 0xD800 || unit >= 0xE000) return {6, true, true};
  const bool paired = unit < 0xDC00 && read_unit(text.substr(6), low) && low >= 0xDC00 && low < 0xE000;
  return {paired ? std::size_t{12} : std::size_t{6}, true, paired};
}

std::size_t code_point_size(std::string_view text) {
  constexpr std::string_view kReplaced = "\xEF\xBF\xBD";
  std::string_view rest = text;
  const bool whole = take_code_point(rest) != kReplacement || text.starts_with(kReplaced);
  return whole ? text.size() - rest.size() : 0;
}

const char* strict_scalar_end(const char* p) {
  const char* behind = nullptr;
  if (*p == '-' || is_digit(*p))
    behind = strict_number_end(p);
  else
    for (const std::string_view word : {"true", "false", "null"})
      if (std::memcmp(p, word.data(), word.size()) == 0) behind = p + word.size();
  return behind;
}

}  // namespace stepscope::read
