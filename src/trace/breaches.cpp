#include "trace/breaches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace stepscope::trace {

void Breaches::add(Breach kind, std::int64_t at) {
  Kind& found = of(kind);
  if (found.count++ == 0 || at < found.first) found.first = at;
}

void Breaches::add(const Breaches& other) {
  for (std::size_t k = 0; k < kBreaches; ++k) {
    const Kind& more = other.kinds[k];
    if (more.count == 0) continue;
    Kind& found = kinds[k];
    found.first = found.count == 0 ? more.first : std::min(found.first, more.first);
    found.count += more.count;
  }
}

bool Breaches::any() const {
  return std::any_of(kinds.begin(), kinds.end(), [](const Kind& of) { return of.count > 0; });
}

std::string_view words_of(Breach kind, std::int64_t count) {
  struct Words {
    std::string_view one, several;
  };
  constexpr Words kWords[kBreaches] = {
      {"value that is no JSON, such as NaN", "values that are no JSON, such as NaN"},
      {"number with a leading zero or a bare point", "numbers with a leading zero or a bare point"},
      {"escape that JSON does not know", "escapes that JSON does not know"},
      {"half of a surrogate pair", "halves of surrogate pairs"},
      {"raw control character in a string", "raw control characters in strings"},
      {"piece of text that is not UTF-8", "pieces of text that are not UTF-8"},
      {"comma too many or missing", "commas too many or missing"},
      {"value whose brackets or keys do not fit", "values whose brackets or keys do not fit"},
      {"byte order mark", "byte order marks"},
  };
  const Words& words = kWords[static_cast<std::size_t>(kind)];
  return count == 1 ? words.one : words.several;
}

std::string text_of(const Breaches& breaches, bool places) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < kBreaches; ++k) {
    const auto& [count, first] = breaches.kinds[k];
    if (count == 0) continue;
    const std::string at =
        places ? fmt::format(" ({}at byte {})", count == 1 ? "" : "the first ", first) : "";
    parts.push_back(fmt::format("{} {}{}", count, words_of(static_cast<Breach>(k), count), at));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace stepscope::trace
