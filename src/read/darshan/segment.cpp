#include "read/darshan/segment.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kColumns = 8;  // module, rank, "read" or "write", segment, offset, length, start, end

std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

std::size_t decimals_of(std::string_view seconds) {
  const std::size_t point = seconds.find('.');
  return point == std::string_view::npos ? 0 : seconds.size() - point - 1;
}

}  // namespace

std::int64_t darshan_number(std::string_view text, std::int64_t otherwise) {
  constexpr std::size_t kMaxDigits = 18;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && text.size() <= kMaxDigits + text.starts_with('-') ? value : otherwise;
}

std::int64_t darshan_seconds(std::string_view text) {
  constexpr std::int64_t kMost = 4'000'000'000, kNsPerSecond = 1'000'000'000;
  constexpr std::size_t kMaxDecimals = 9;
  const std::int64_t whole = darshan_number(text.substr(0, text.find('.')), -1);
  if (whole < 0 || whole > kMost) return -1;
  const std::size_t decimals = decimals_of(text);
  if (decimals == 0) return has(text, ".") ? -1 : whole * kNsPerSecond;
  if (decimals > kMaxDecimals) return -1;
  std::int64_t ns = darshan_number(text.substr(text.size() - decimals), -1);
  if (ns < 0 || text[text.size() - decimals] == '-') return -1;
  for (std::size_t i = decimals; i < kMaxDecimals; ++i) ns *= 10;
  return whole * kNsPerSecond + ns;
}

std::optional<DarshanSegment> darshan_segment(std::string_view line, bool threads) {
  std::array<std::string_view, kColumns> words;
  for (std::string_view& word : words) word = next_word(line);
  const auto& [module, rank, direction, segment, offset, length, start, end] = words;
  DarshanSegment of;
  of.mpi = module == "X_MPIIO";
  of.writes = direction == "write";
  if ((!of.mpi && module != "X_POSIX") || (!of.writes && direction != "read")) return std::nullopt;
  constexpr std::int64_t kMaxRank = 1'000'000'000;
  of.rank = darshan_number(rank, -1);
  of.offset = darshan_number(offset, -2);
  of.length = darshan_number(length, -1);
  of.begin = darshan_seconds(start);
  of.end = darshan_seconds(end);
  if (of.rank < 0 || of.rank > kMaxRank || darshan_number(segment, -1) < 0 || of.offset < -1 ||
      of.length < 0 || of.begin < 0 || of.end < of.begin)
    return std::nullopt;
  if (decimals_of(start) != decimals_of(end)) return std::nullopt;  // the line is cut off
  if (!threads) return of;
  line = trimmed(line);
  of.thread = std::max<std::int64_t>(-1, darshan_number(line.substr(line.find_last_of(" \t]") + 1), -1));
  return of;
}

}  // namespace stepscope::read
