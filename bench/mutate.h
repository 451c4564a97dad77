// Damages a file on purpose, the same way for the same seed. For robustness tests: whatever comes out, a
// reader must answer with a trace or an error, never with a crash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::bench {

enum class Mutation : std::uint8_t { cut, flip, erase, duplicate, insert, number, swap, nest, blank, append };
constexpr std::size_t kMutations = 10;

inline const char* mutation_name(Mutation mutation) {
  constexpr std::array<const char*, kMutations> kNames = {"cut",    "flip", "erase", "duplicate", "insert",
                                                          "number", "swap", "nest",  "blank",     "append"};
  return kNames[static_cast<std::size_t>(mutation)];
}

struct Mutant {
  std::string bytes;
  std::vector<Mutation> applied;
};

/// A stream of numbers that depends on the seed alone (SplitMix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }

  /// Uniform in [0, below); 0 for an empty range.
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(next() % limit); }

 private:
  std::uint64_t state_;
};

namespace mutation {

using namespace std::string_view_literals;

inline constexpr std::array kTokens = {
    "\""sv,       "\\"sv,          "\0"sv,         "{"sv,          "}"sv,    "["sv,     "]"sv,
    ","sv,        ":"sv,           "\\u0000"sv,    "\\ud800"sv,    "\xff"sv, "\xc3"sv,  "\xef\xbb\xbf"sv,
    "\n"sv,       "\x01"sv,        "null"sv,       "{}"sv,         "[]"sv,   "\"\""sv,  "//"sv,
    "\"ph\": "sv, "\"args\": {"sv, "\"dur\": -"sv, "\"ts\": \""sv, "N/A"sv,  "\\u12"sv, "\x1f\x8b"sv};

inline constexpr std::array kNumbers = {"NaN"sv,
                                        "-1"sv,
                                        "0"sv,
                                        "1e308"sv,
                                        "1e999"sv,
                                        "-1e308"sv,
                                        "Infinity"sv,
                                        "9223372036854775807"sv,
                                        "9223372036854775808"sv,
                                        "-9223372036854775808"sv,
                                        "18446744073709551615"sv,
                                        "99999999999999999999999999999999"sv,
                                        "4294967296"sv,
                                        "2147483648"sv,
                                        "-0"sv,
                                        "1e-320"sv,
                                        "0.0000000000000000000000001"sv,
                                        "1.7976931348623157e309"sv,
                                        "0x10"sv,
                                        "1."sv,
                                        "-"sv,
                                        "\"7\""sv,
                                        "null"sv,
                                        "[1]"sv};

/// [first, first + length) inside `size` bytes; mostly short, sometimes long.
inline std::pair<std::size_t, std::size_t> range(Dice& dice, std::size_t size) {
  const std::size_t first = dice.below(size);
  const std::size_t room = size - first;
  const std::size_t limit = dice.below(4) == 0 ? room : std::min<std::size_t>(room, 400);
  return {first, limit == 0 ? 0 : 1 + dice.below(limit)};
}

inline void flip(std::string& bytes, Dice& dice) {
  for (std::size_t n = 1 + dice.below(8); n > 0; --n) {
    char& byte = bytes[dice.below(bytes.size())];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << dice.below(8)));
  }
}

/// Replaces one run of digits, with its sign, fraction and exponent, if one is near a random place.
inline void number(std::string& bytes, Dice& dice) {
  const std::size_t found = bytes.find_first_of("0123456789", dice.below(bytes.size()));
  if (found == std::string::npos) return;
  const std::size_t end = bytes.find_first_not_of("0123456789.eE+-", found);
  const std::size_t length = (end == std::string::npos ? bytes.size() : end) - found;
  bytes.replace(found, length, kNumbers[dice.below(kNumbers.size())]);
}

inline void swap(std::string& bytes, Dice& dice) {
  const auto [a, a_length] = range(dice, bytes.size());
  const auto [b, b_length] = range(dice, bytes.size());
  const std::size_t length = std::min(a_length, b_length);
  for (std::size_t i = 0; i < length; ++i) std::swap(bytes[a + i], bytes[b + i]);
}

inline void nest(std::string& bytes, Dice& dice) {
  constexpr std::array<std::size_t, 4> kDepths = {3, 100, 2000, 200000};
  const std::size_t depth = kDepths[dice.below(kDepths.size())];
  std::string deep;
  if (dice.below(2) == 0) {
    deep.assign(depth, '[');
  } else {
    for (std::size_t i = 0; i < depth; ++i) deep += "{\"a\":";
  }
  bytes.insert(dice.below(bytes.size() + 1), deep);
}

inline void apply(Mutation mutation, std::string& bytes, Dice& dice) {
  const auto [first, length] = range(dice, bytes.size());
  switch (mutation) {
    case Mutation::cut:
      bytes.resize(first);
      break;
    case Mutation::flip:
      flip(bytes, dice);
      break;
    case Mutation::erase:
      bytes.erase(first, length);
      break;
    case Mutation::duplicate:
      bytes.insert(first, std::string(bytes, first, length));
      break;
    case Mutation::insert:
      bytes.insert(first, kTokens[dice.below(kTokens.size())]);
      break;
    case Mutation::number:
      number(bytes, dice);
      break;
    case Mutation::swap:
      swap(bytes, dice);
      break;
    case Mutation::nest:
      nest(bytes, dice);
      break;
    case Mutation::blank:
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), length,
                  dice.below(2) == 0 ? '\0' : ' ');
      break;
    case Mutation::append:
      bytes += std::string(bytes, first, length);
      break;
  }
}

}  // namespace mutation

/// One to four mutations of `input`. The result has at most 16 times its bytes and 4 MB more.
inline Mutant mutate(std::string_view input, std::uint64_t seed) {
  Dice dice(seed);
  Mutant mutant{std::string(input), {}};
  for (std::size_t n = 1 + dice.below(4); n > 0 && !mutant.bytes.empty(); --n) {
    const auto mutation = static_cast<Mutation>(dice.below(kMutations));
    mutation::apply(mutation, mutant.bytes, dice);
    mutant.applied.push_back(mutation);
  }
  return mutant;
}

}  // namespace stepscope::bench
