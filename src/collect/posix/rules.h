// Which paths are traced. A path's text is looked at after each call that opens a file. There, after a system
// call, each line of code that is run and each branch that is taken costs time: so they are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>

#include <bit>
#endif

#include "collect/posix/hot.h"

namespace stepscope::collect::posix {

/// 8 bytes that a path has if a rule covers it.
struct Hint {
  std::uint64_t word, mask;  ///< which bits of them count
  std::uint16_t at;          ///< where in the path they are
  std::uint16_t length;      ///< of the rule's prefix
  bool is_exact;             ///< these bytes and a slash after the prefix tell that the path is not traced
  std::uint8_t next;         ///< hint with the same first letter; 0: none
};
struct alignas(64) Hints {
  static constexpr std::size_t kMost = 254;
  Hint all[kMost + 1];      ///< from 1 on
  std::uint8_t first[256];  ///< by the first letter of the first component; 0: none
  bool leave_others;        ///< paths that no hint fits are not traced
};
HOT_DATA extern Hints hints;

inline std::uint64_t word_at(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  return word;
}

/// False for names that begin with a dot.
bool needs_normalizing(const char* path, std::size_t length);

/// The length of an absolute path that has no ".", ".." or doubled slash, and does not end in a slash; 0: any
/// other path.
[[gnu::always_inline]] inline std::size_t length_if_clean(const char* path) {
  if (path[0] != '/') [[unlikely]]
    return 0;
#if defined(__SSE2__)
  // Looks at whole aligned blocks, which lie within a page, and at pairs of bytes that may be "//", "/." or
  // the last slash.
  const auto begin = reinterpret_cast<std::uintptr_t>(path);
  const __m128i slashes = _mm_set1_epi8('/'), lowest_bits = _mm_set1_epi8(1), zeros = _mm_setzero_si128();
  static_assert('.' == 0x2E && '/' == 0x2F);  // so they differ in the lowest bit
  std::uintptr_t block = begin & ~std::uintptr_t{15};
  std::uint32_t ours = ~0U << (begin & 15), slash_before = 0, suspects = 0, ends = 0;
  while (true) {
    const __m128i bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(block));
    const __m128i is_end = _mm_cmpeq_epi8(bytes, zeros);
    const __m128i is_dot_or_slash = _mm_cmpeq_epi8(_mm_or_si128(bytes, lowest_bits), slashes);
    const auto found_slashes = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, slashes)));
    const auto seconds = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(is_end, is_dot_or_slash)));
    const std::uint32_t after_slashes = (found_slashes & ours) << 1 | slash_before;
    ends = static_cast<std::uint32_t>(_mm_movemask_epi8(is_end)) & ours;
    suspects |= after_slashes & seconds & (ends ^ (ends - 1));  // up to the first end
    if (ends != 0) break;
    slash_before = after_slashes >> 16;
    ours = ~0U;
    block += 16;
  }
  const std::size_t length = block + static_cast<std::uint32_t>(std::countr_zero(ends)) - begin;
  if (suspects != 0 && needs_normalizing(path, length)) [[unlikely]]
    return 0;
  return length;
#else
  const std::size_t length = std::strlen(path);
  return needs_normalizing(path, length) ? 0 : length;
#endif
}

inline constexpr std::size_t kLeft = SIZE_MAX;
/// What a path's text tells at once. kLeft: it is not traced, and no descriptor's. Else length_if_clean(),
/// and is_taken() knows more.
[[gnu::always_inline]] inline std::size_t look_at(const char* path) {
  const std::size_t length = length_if_clean(path);
  if (length < 8) [[unlikely]]
    return length;
  bool is_left = hints.leave_others;
  for (std::uint32_t number = hints.first[static_cast<unsigned char>(path[1])]; number != 0;) {
    const Hint& hint = hints.all[number];
    number = hint.next;
    if (length < hint.length || ((word_at(path + hint.at) ^ hint.word) & hint.mask) != 0) continue;
    if (!hint.is_exact || path[hint.length] != '/') [[unlikely]]
      return length;
    is_left = true;
  }
  if (!is_left) [[unlikely]]
    return length;
  return kLeft;
}

/// Of a clean path: the longest prefix counts, and of equal ones the newest.
bool is_taken(std::string_view path);
/// Whether the path is one of those that open a descriptor's file again: /proc/self/fd/3, /dev/stdin.
bool is_descriptors_path(const char* path);
inline bool leads_to_descriptor(const char* path) {
  if (path[0] != '/' || (path[1] != 'p' && path[1] != 'd')) return false;
  const bool may_be = path[1] == 'p' ? path[2] == 'r' && path[3] == 'o'
                                     : path[2] == 'e' && path[3] == 'v' && path[4] == '/' &&
                                           (path[5] == 'f' || (path[5] == 's' && path[6] == 't'));
  return may_be && is_descriptors_path(path);
}

/// What to trace: colon-separated prefixes of whole components. Without included ones, all but libraries.
/// Rules that were set before are forgotten.
void set_rules(const char* included, const char* excluded);
/// Never traced, e.g. where recordings are written.
void exclude(const char* folder);

}  // namespace stepscope::collect::posix
