#include "read/strict/strict.h"

#include <bitset>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

/// The first quote in `p` to `end`, or `end`; nullptr if the text before it is not strict.
const char* strict_text_end(const char* p, const char* end) {
  for (;;) {
    p = next_odd(p, end);
    if (p >= end) return end;
    if (*p == '"') return p;
    const std::string_view rest = text_between(p, end);
    const Escape escape = *p == '\\' ? escape_at(rest) : Escape{code_point_size(rest), true, true};
    if (static_cast<unsigned char>(*p) < ' ' || escape.size == 0 || !escape.known || !escape.paired)
      return nullptr;
    p += escape.size;
  }
}

/// The end of the string, number or literal at `p`.
const char* strict_leaf_end(const char* p, const char* end) {
  if (*p != '"') return strict_scalar_end(p);
  const char* close = strict_text_end(p + 1, end);
  return close == nullptr || close == end ? nullptr : close + 1;
}

/// Moves `p` from a key to its value.
bool pass_strict_key(const char*& p, const char* end) {
  if (*p != '"' || (p = strict_leaf_end(p, end)) == nullptr) return false;
  p = skip_space(p);
  if (*p != ':') return false;
  p = skip_space(p + 1);
  return true;
}

/// The end of the array or object at `p`.
const char* strict_nest_end(const char* p, const char* end) {
  std::bitset<kMaxNesting> objects;
  std::size_t depth = 0;
  do {  // a value begins at p
    if (*p == '[' || *p == '{') {
      if (depth == kMaxNesting) return nullptr;
      const bool object = *p == '{';
      objects[depth++] = object;
      p = skip_space(p + 1);
      if (*p != (object ? '}' : ']')) {
        if (object && !pass_strict_key(p, end)) return nullptr;
        continue;
      }
    } else if ((p = strict_leaf_end(p, end)) == nullptr) {
      return nullptr;
    }
    for (p = skip_space(p); *p == (objects[depth - 1] ? '}' : ']'); p = skip_space(p))
      if (++p, --depth == 0) return p;
    if (*p != ',') return nullptr;
    p = skip_space(p + 1);
    if (objects[depth - 1] && !pass_strict_key(p, end)) return nullptr;
  } while (p < end);
  return nullptr;
}

}  // namespace

const char* strict_end(const char* p, const char* end) {
  const bool nest = *p == '[' || *p == '{';
  const char* behind = nest ? strict_nest_end(p, end) : strict_leaf_end(p, end);
  if (behind == nullptr || behind > end) return nullptr;
  return nest || *p == '"' || ends_value(*behind) ? behind : nullptr;
}

bool is_strict_odd_text(std::string_view text) {
  const char* end = text.data() + text.size();
  return strict_text_end(text.data(), end) == end;
}

}  // namespace stepscope::read
