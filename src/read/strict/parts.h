// The parts of JSON texts, as strict JSON has them. kPadding zero bytes must follow each text.
#pragma once

#include <cstdint>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stepscope::read {

/// The first byte of a string that needs a closer look: a quote, a backslash, a control, or one beyond ASCII.
/// `end` or a later byte if there is none.
inline const char* next_odd(const char* p, const char* end) {
#ifdef __SSE2__
  for (; p < end; p += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
    const __m128i other = _mm_cmplt_epi8(block, _mm_set1_epi8(' '));  // bytes beyond ASCII are negative
    const auto odd =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), other)));
    if (odd != 0) return p + __builtin_ctz(odd);
  }
#else
  while (p < end && static_cast<signed char>(*p) >= ' ' && *p != '"' && *p != '\\') ++p;
#endif
  return p;
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What a backslash begins.
struct Escape {
  std::size_t size;  ///< bytes
  bool known;        ///< to JSON
  bool paired;       ///< false: half a surrogate pair
};
Escape escape_at(std::string_view text);

/// Bytes of the code point at the front of `text`, 0 if it is none.
std::size_t code_point_size(std::string_view text);

/// The end of the number or literal at `p`, nullptr if there is none.
const char* strict_scalar_end(const char* p);

}  // namespace stepscope::read
