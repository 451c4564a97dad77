// Where a file's text is no strict JSON (RFC 8259). The readers here accept more; other readers refuse it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::trace {

enum class Breach : std::uint8_t {
  value,      ///< a bare word, such as NaN
  number,     ///< a leading zero, or a point with no digit behind it
  escape,     ///< \U and the like
  surrogate,  ///< half a pair
  control,    ///< a raw control character in a string
  utf8,       ///< bytes that are no UTF-8
  comma,      ///< one too many, or one missing
  structure,  ///< brackets, keys and colons that do not fit, or nest too deep
  mark,       ///< a byte order mark
};
inline constexpr std::size_t kBreaches = 9;

struct Breaches {
  struct Kind {
    std::int64_t count = 0;
    std::int64_t first = -1;  ///< offset in the uncompressed text
  };
  std::array<Kind, kBreaches> kinds;

  void add(Breach kind, std::int64_t at);
  void add(const Breaches& other);
  Kind& of(Breach kind) { return kinds[static_cast<std::size_t>(kind)]; }
  const Kind& of(Breach kind) const { return kinds[static_cast<std::size_t>(kind)]; }
  bool any() const;
};

/// What the breaches of a kind are: "values that are no JSON, such as NaN"; `count` chooses the number.
std::string_view words_of(Breach kind, std::int64_t count);

/// A list of what was found, "" if nothing was: "2 values that are no JSON, such as NaN, and 1 escape …".
/// `places`: also the byte of the first of each kind.
std::string text_of(const Breaches& breaches, bool places);

/// A file whose text is not strict.
struct BreachedFile {
  std::string path;
  Breaches breaches;
};

}  // namespace stepscope::trace
