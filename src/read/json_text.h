// The JSON primitives of the readers: forgiving and non-recursive. They work on one block of text followed by
// kPadding zero bytes, so that loads past the end are safe and every loop meets a byte that stops it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stepscope::read {

inline constexpr std::size_t kPadding = 64;

inline const char* skip_space(const char* p) {
  while (static_cast<unsigned char>(*p) <= ' ' && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  return p;
}

/// Bytes that JSON allows nowhere.
inline bool is_forbidden(char c) {
  return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
}
/// Position of the first forbidden byte, npos without one.
std::size_t find_forbidden(std::string_view text);

/// Whether a value can end before this byte.
inline bool ends_value(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// `p` is after the opening quote. Returns the closing quote, or nullptr when the text ends first.
/// Raw control characters are tolerated. Sets `escaped` when a backslash was met.
inline const char* string_end(const char* p, const char* end, bool& escaped) {
  escaped = false;
  while (p < end) {
#ifdef __SSE2__
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const auto stops = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(quote, slash)));
    if (stops == 0) {
      p += 16;
      continue;
    }
    p += __builtin_ctz(stops);
#else
    while (p < end && *p != '"' && *p != '\\') ++p;
#endif
    if (p >= end) return nullptr;
    if (*p == '"') return p;
    escaped = true;
    p += 2;
  }
  return nullptr;
}

/// Returns the first byte after the JSON value at `p`, nullptr when the text ends first, and `p` when there
/// is no value; `looked` is then how far the text was read. If a string inside is followed by something that
/// cannot follow a string, a quote was not escaped: going on would swallow the events after it. Brackets are
/// counted, not matched by kind; nothing recurses.
const char* value_end(const char* p, const char* end, const char** looked = nullptr);

inline std::string_view text_between(const char* from, const char* to) {
  return {from, static_cast<std::size_t>(to - from)};
}

/// Sets `damage` and returns false.
inline bool say_damage(const char*& damage, const char* why) {
  damage = why;
  return false;
}

/// Moves `p` from a key to its value. `key` is without its quotes, escapes unchanged. False: the text ends,
/// or `damage` is what is wrong at `p`.
inline bool pass_key(const char*& p, const char* end, std::string_view& key, const char*& damage) {
  if (*p != '"') return say_damage(damage, "a key was expected here; a quote may be unescaped");
  bool escaped = false;
  const char* close = string_end(p + 1, end, escaped);
  if (close == nullptr) return false;
  const char* colon = skip_space(close + 1);
  if (colon >= end) return false;
  if (*colon != ':')
    return say_damage(damage, "a colon was expected after this key; a quote may be missing or unescaped");
  key = text_between(p + 1, close);
  p = skip_space(colon + 1);
  return p < end;
}

/// Moves `p` past a value. False: the text ends, or `damage` is what is wrong at `p` and `looked` how far the
/// text was read.
inline bool pass_value(const char*& p, const char* end, const char*& damage, const char*& looked) {
  const char* far = p;
  const char* behind = value_end(p, end, &far);
  if (behind == nullptr) return false;
  if (behind == p) {
    looked = far;
    return say_damage(damage, "a value was expected here; a quote may be unescaped");
  }
  p = behind;
  return true;
}

enum class Member : std::uint8_t {
  key,    ///< p is at the next key
  close,  ///< p is after the object
  none,   ///< the text ends, or `damage` is what is wrong at p
};

/// Moves `p` from after the "{" (`first`) or after a value to the object's next key or its end.
inline Member next_member(const char*& p, const char* end, bool first, const char*& damage) {
  p = skip_space(p);
  if (p >= end) return Member::none;
  if (*p == '}') {
    ++p;
    return Member::close;
  }
  if (first) return Member::key;
  if (*p != ',') {
    damage = "a comma or a closing brace was expected here; a quote may be unescaped";
    return Member::none;
  }
  p = skip_space(p + 1);
  return p < end ? Member::key : Member::none;
}

/// Undoes JSON escapes; surrogate pairs become UTF-8, broken escapes stay unchanged.
void unescape(std::string_view text, std::string& out);

/// Reads the decimal digits at `p`, up to eight at once, and moves past them; more than 19 wrap around.
inline std::uint64_t read_digits(const char*& p) {
  constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  std::uint64_t value = 0;
  for (;;) {
    std::uint64_t digits;
    std::memcpy(&digits, p, 8);
    digits ^= 0x3030303030303030;  // a digit becomes its value, any other byte more than 9
    const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
    const int count = others == 0 ? 8 : __builtin_ctzll(others) / 8;
    if (count == 0) return value;
    digits <<= 64 - 8 * count;  // the last digit goes to the end, zeros before the first
    digits = digits * 10 + (digits >> 8);
    const std::uint64_t upper = (digits & 0x000000FF000000FF) * (100 + (1'000'000ULL << 32));
    const std::uint64_t lower = (digits >> 16 & 0x000000FF000000FF) * (1 + (10'000ULL << 32));
    value = value * kPowers[count] + ((upper + lower) >> 32);
    p += count;
    if (count < 8) return value;
  }
}

/// The form of a number's text.
enum class Number : std::uint8_t { none, integer, real, large };

/// read_number for all but short runs of digits.
Number read_other_number(const char*& p, std::int64_t& integer, double& real);

/// Reads a number at `p` and moves past it. `integer`: at most 18 digits. `real`: has a fraction or an
/// exponent and at most 17 significant digits, as many as a double prints. `large`: any other number (keep
/// its text). `none`: not a number, p is unmoved.
inline Number read_number(const char*& p, std::int64_t& integer, double& real) {
  const char* at = p;
  const std::uint64_t value = read_digits(at);
  if (at == p || at - p > 18 || *at == '.' || *at == 'e' || *at == 'E')
    return read_other_number(p, integer, real);
  p = at;
  integer = static_cast<std::int64_t>(value);
  return Number::integer;
}

/// Times saturate here: 127 years, so that the sum of two never overflows.
inline constexpr std::int64_t kMaxTime = 4'000'000'000'000'000'000;

/// Reads decimal microseconds at `p` into integer nanoseconds, rounding only what is finer than 1 ns. False
/// if there is no number; magnitudes beyond kMaxTime saturate.
bool read_microseconds(const char*& p, std::int64_t& nanoseconds);

}  // namespace stepscope::read
