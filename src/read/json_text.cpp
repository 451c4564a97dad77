#include "read/json_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.h"

namespace stepscope::read {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool read_hex4(std::string_view text, std::uint32_t& code) {
  if (text.size() < 4) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  return error == std::errc{} && end == text.data() + 4;
}

/// `text` starts after "\u". Returns the number of bytes used, 0 when broken.
std::size_t unescape_unicode(std::string_view text, std::string& out) {
  std::uint32_t code = 0, low = 0;
  if (!read_hex4(text, code)) return 0;
  const bool high_surrogate = code >= 0xD800 && code < 0xDC00;
  if (high_surrogate && text.size() >= 10 && text[4] == '\\' && text[5] == 'u' &&
      read_hex4(text.substr(6), low) && low >= 0xDC00 && low < 0xE000) {
    append_utf8(out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
    return 10;
  }
  append_utf8(out, code >= 0xD800 && code < 0xE000 ? kReplacement : code);
  return 4;
}

/// Number of mantissa digits after leading zeros.
int significant_digits(const char* p, const char* end) {
  int count = 0;
  for (; p < end && *p != 'e' && *p != 'E'; ++p) count += is_digit(*p) && (count > 0 || *p != '0');
  return count;
}

/// Exact decimal shift for texts with an exponent or too many digits: digits · 10^(exponent + 3), in ns.
std::int64_t shifted_nanoseconds(std::string_view digits, std::int64_t exponent, bool negative) {
  std::int64_t value = 0;
  const std::int64_t kept = static_cast<std::int64_t>(digits.size()) + exponent + 3;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(kept, 64); ++i) {
    const int digit =
        i < static_cast<std::int64_t>(digits.size()) ? digits[static_cast<std::size_t>(i)] - '0' : 0;
    if (value > (kMaxTime - digit) / 10) {
      value = kMaxTime;
      break;
    }
    value = value * 10 + digit;
  }
  const bool round_up = kept >= 0 && kept < static_cast<std::int64_t>(digits.size()) &&
                        digits[static_cast<std::size_t>(kept)] >= '5';
  if (round_up && value < kMaxTime) ++value;
  return negative ? -value : value;
}

bool read_microseconds_slowly(const char*& p, std::int64_t& nanoseconds) {
  const char* at = p;
  const bool negative = *at == '-';
  if (negative) ++at;
  std::string digits;
  std::int64_t exponent = 0;
  constexpr std::size_t kMaxDigits = 64;
  bool any = false;
  for (bool fraction = false; is_digit(*at) || (*at == '.' && !fraction); ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    any = true;
    if (digits.empty() && *at == '0') {
      exponent -= fraction;
      continue;
    }
    if (digits.size() < kMaxDigits) {
      digits += *at;
      exponent -= fraction;
    } else
      exponent += !fraction;
  }
  if (!any) return false;
  if (*at == 'e' || *at == 'E') {
    std::int64_t power = 0;
    const char* from = at + 1 + (at[1] == '+');
    const auto [end, error] = std::from_chars(from, from + 12, power);
    if (end == from) return false;
    exponent += error == std::errc{} ? std::clamp<std::int64_t>(power, -1000, 1000) : 1000;
    at = end;
  }
  p = at;
  nanoseconds = digits.empty() ? 0 : shifted_nanoseconds(digits, exponent, negative);
  return true;
}

}  // namespace

std::size_t find_forbidden(std::string_view text) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t from = 0; from < text.size(); from += kPiece) {
    const std::string_view piece = text.substr(from, kPiece);
    unsigned found = 0;
    for (const char c : piece) found |= static_cast<unsigned>(is_forbidden(c));
    if (found != 0)
      return from +
             static_cast<std::size_t>(std::find_if(piece.begin(), piece.end(), is_forbidden) - piece.begin());
  }
  return std::string_view::npos;
}

const char* value_end(const char* p, const char* end, const char** looked) {
  const char* const start = p;
  std::int64_t depth = 0;
  for (; p < end; ++p) {
    switch (*p) {
      case '"': {
        bool escaped = false;
        p = string_end(p + 1, end, escaped);
        if (p == nullptr) return nullptr;
        if (depth == 0) return p + 1;
        const char* next = skip_space(p + 1);
        if (next >= end) return nullptr;
        if (*next != ',' && *next != ':' && *next != ']' && *next != '}') {
          if (looked != nullptr) *looked = next;
          return start;
        }
        p = next - 1;
        break;
      }
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (depth <= 1) return depth == 0 ? p : p + 1;
        --depth;
        break;
      case ',':
        if (depth == 0) return p;
        break;
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        if (depth == 0) return p;
        break;
      default:
        break;
    }
  }
  return nullptr;
}

void unescape(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case '"':
      case '\\':
      case '/':
        out += c;
        break;
      case 'u': {
        const std::size_t used = unescape_unicode(text.substr(i + 1), out);
        if (used == 0) out += "\\u";
        i += used;
        break;
      }
      default:
        out += '\\';
        out += c;
    }
  }
}

Number read_other_number(const char*& p, std::int64_t& integer, double& real) {
  const char* at = p;
  const bool negative = *at == '-';
  if (negative) ++at;
  if (!is_digit(*at)) return Number::none;
  const char* digits = at;
  const std::uint64_t value = read_digits(at);
  const auto count = at - digits;
  if (*at != '.' && *at != 'e' && *at != 'E') {
    p = at;
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (count > 19 || value > kMax) return Number::large;
    integer = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return negative && value == 0 ? Number::large : Number::integer;
  }
  const char* stop = at;
  while (is_digit(*stop) || *stop == '.' || *stop == 'e' || *stop == 'E' || *stop == '+' || *stop == '-')
    ++stop;
  const auto [end, error] = std::from_chars(p, stop, real);
  const bool whole = end == stop && error == std::errc{};
  const bool exact = stop - digits <= 18 || significant_digits(digits, stop) <= 17;
  p = stop;
  return whole && exact ? Number::real : Number::large;
}

bool read_microseconds(const char*& p, std::int64_t& nanoseconds) {
  const char* at = p;
  const bool negative = *at == '-';
  if (negative) ++at;
  const char* digits = at;
  std::uint64_t value = read_digits(at);
  if (at == digits || at - digits > 15) {
    if (at - digits != 16 || value > kMaxTime / 1000) return read_microseconds_slowly(p, nanoseconds);
  }
  value *= 1000;
  if (*at == '.') {
    std::uint64_t scale = 100;
    for (++at; is_digit(*at); ++at, scale /= 10) {
      if (scale == 0) {  // the first digit finer than 1 ns decides the rounding
        value += *at >= '5';
        while (is_digit(*at)) ++at;
        break;
      }
      value += scale * static_cast<std::uint64_t>(*at - '0');
    }
  }
  if (*at == 'e' || *at == 'E') return read_microseconds_slowly(p, nanoseconds);
  p = at;
  nanoseconds = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

}  // namespace stepscope::read
