#include "lanes/ask/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "lanes/json.h"

namespace stepscope::lanes {
namespace {

constexpr std::size_t kMaxQuery = 200;  // bytes

/// The bit of a kind by its name, "memcpy"; 0 if there is none.
std::uint32_t bit_of_kind(std::string_view name) {
  for (int kind = 0; kind < trace::kKinds; ++kind)
    if (trace::name_of(static_cast<trace::Kind>(kind)) == name) return std::uint32_t{1} << kind;
  return 0;
}

std::optional<double> unit_of(std::string_view name) {
  if (name.empty() || name == "ns") return 1;
  if (name == "us" || name == "µs" || name == "μs") return 1e3;
  if (name == "ms") return 1e6;
  if (name == "s") return 1e9;
  return std::nullopt;
}

/// "1.5ms" in ns.
std::optional<std::int64_t> time_in(std::string_view text) {
  constexpr double kMost = 9e18;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::optional<double> unit = unit_of(text.substr(static_cast<std::size_t>(end - text.data())));
  if (!unit || !(number >= 0)) return std::nullopt;
  return static_cast<std::int64_t>(std::min(number * *unit, kMost));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// One sentence if the word restricts in a way that makes no sense, else "".
std::string take_word(std::string_view word, Wanted& wanted) {
  const auto rest_of = [&](std::string_view head) { return word.substr(head.size()); };
  if (constexpr std::string_view kHead = "kind:"; word.starts_with(kHead)) {
    const std::uint32_t bit = bit_of_kind(rest_of(kHead));
    wanted.kinds = (wanted.kinds == kAnyKind ? 0 : wanted.kinds) | bit;
    return bit != 0 ? ""
                    : fmt::format("No event is of that kind: {}. Kinds are op, kernel, python and others.",
                                  shown(rest_of(kHead)));
  }
  if (constexpr std::string_view kHead = "rank:"; word.starts_with(kHead)) {
    wanted.rank = whole_number(rest_of(kHead));
    return wanted.rank ? "" : fmt::format("This is not a rank's number: {}.", shown(rest_of(kHead)));
  }
  if (word.starts_with("dur>") || word.starts_with("dur<")) {
    const std::optional<std::int64_t> time = time_in(rest_of("dur>"));
    if (!time) return fmt::format("This is not a time such as 1.5ms: {}.", shown(rest_of("dur>")));
    (word[3] == '>' ? wanted.longer_than : wanted.shorter_than) = *time;
    return "";
  }
  wanted.part += (wanted.part.empty() ? "" : " ") + lower(word);
  return "";
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

Result<Wanted> wanted_by(std::string_view query) {
  if (query.size() > kMaxQuery)
    return Error{fmt::format("A search has at most {} bytes.", kMaxQuery), "", -1};
  Wanted wanted;
  for (std::string_view rest = trimmed(query); !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string why = end == 0 ? "" : take_word(rest.substr(0, end), wanted);
    if (!why.empty()) return Error{std::move(why), "", -1};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return wanted;
}

}  // namespace stepscope::lanes
