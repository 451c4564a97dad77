#include "lanes/json.h"

#include <cmath>

#include "base/text.h"
#include "report/utf8.h"

namespace stepscope::lanes {
namespace {

/// The start of valid UTF-8, at most `most` bytes, without part of a character.
std::string_view start_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t size = most;
  while (size > 0 && is_inside(size)) --size;
  return text.substr(0, size);
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  constexpr std::size_t kMaxCharacter = 4;  // bytes: a cut one at the end of what is read is cut off again
  const std::string line = report::one_line(text.substr(0, most + kMaxCharacter));
  const std::string_view kept = start_of(line, most);
  return std::string(kept) + (text.size() > most + kMaxCharacter || kept.size() < line.size() ? "…" : "");
}

Json& Json::real(double value) { return std::isfinite(value) ? word(fmt::format("{}", value)) : null(); }

Json& Json::text(std::string_view value) {
  comma();
  append_json(out_, value);
  return *this;
}

}  // namespace stepscope::lanes
