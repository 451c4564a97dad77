#include "serve/file_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/base64.h"
#include "base/deflate.h"
#include "lanes/boxes.h"

namespace stepscope::serve {
namespace {

using timeline::Interval;

constexpr std::size_t kRowsAtOnce = 512;      // of one answer with tiles
constexpr std::size_t kMaxSpans = 64;         // that are looked at for their events
constexpr std::int64_t kMinPerEvent = 2;      // characters of an event in a block, at least
constexpr std::size_t kMaxEvents = 40'000'000;  // of one block, which must be below 4 GiB
constexpr std::int64_t kMaxTiles = 4'096, kMaxCounterTiles = 128;  // of one level
constexpr std::int64_t kMostForCounters = 200'000;  // characters
constexpr int kNarrow = 2;  // levels above that of the whole run, which narrow windows ask for

std::int64_t size_of_block(const report::Block& block) {
  return static_cast<std::int64_t>(block.base64.size());
}

/// A level at which one tile holds the whole run.
int whole_level(lanes::Time end) {
  int level = 0;
  while (level < 62 && lanes::Tile{level, 0}.end() < end) ++level;
  return level;
}

std::int64_t tiles_at(int level, lanes::Time end) {
  const lanes::Time length = lanes::Tile{level, 0}.end();
  return std::max<std::int64_t>(1, (end + length - 1) / length);
}

/// Neighbouring things whose rows fit into one answer.
std::vector<std::vector<std::uint32_t>> groups_of(const std::vector<std::size_t>& rows) {
  std::vector<std::vector<std::uint32_t>> groups;
  std::size_t sum = kRowsAtOnce;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    if (groups.empty() || sum + rows[i] > kRowsAtOnce || groups.back().size() == lanes::kMaxAsked) {
      groups.emplace_back();
      sum = 0;
    }
    groups.back().push_back(i);
    sum += rows[i];
  }
  return groups;
}

/// All tiles of a level, each behind its length.
template <class Ask>
std::string level_of(int level, lanes::Time end, const std::vector<std::vector<std::uint32_t>>& groups,
                     const Ask& ask) {
  std::string out;
  for (std::int64_t tile = 0; tile < tiles_at(level, end); ++tile)
    for (const std::vector<std::uint32_t>& group : groups) {
      const std::string bytes = ask(level, tile, group).value();
      const auto length = static_cast<std::uint64_t>(bytes.size());
      for (int i = 0; i < 8; ++i) out += static_cast<char>(length >> (8 * i));
      out += bytes;
      out.resize((out.size() + 7) / 8 * 8);
    }
  return out;
}

/// Levels from that of the whole run down, as far as the budget allows; takes their size from it.
template <class Ask>
Levels put_levels(std::vector<report::Block>& blocks, std::string_view name, lanes::Time end,
                  const std::vector<std::size_t>& rows, std::int64_t most, std::int64_t& budget,
                  const Ask& ask) {
  const auto groups = groups_of(rows);
  const int coarsest = std::min(whole_level(end) + kNarrow, 62);
  Levels levels{coarsest + 1, coarsest};
  std::int64_t size = 0;
  while (levels.finest > 0 && !rows.empty() && tiles_at(levels.finest - 1, end) <= most) {
    const int level = levels.finest - 1;
    report::Block block = packed(fmt::format("{}-{}", name, level), level_of(level, end, groups, ask));
    const bool first = level == levels.coarsest;
    if (!first && size_of_block(block) > budget) break;
    size = size_of_block(block);
    budget -= size;
    blocks.push_back(std::move(block));
    levels.finest = level;
    if (budget < size) break;  // the next one is at least as large
  }
  return levels;
}

/// Steps to take, the most telling first: that of the median length, the longest, then from the first on.
/// Without steps, equal parts of the run.
std::vector<Interval> candidates_of(const lanes::Recorded& recorded) {
  std::vector<Interval> spans = recorded.steps();
  if (spans.empty()) {
    const lanes::Time part = recorded.end() / static_cast<lanes::Time>(kMaxSpans) + 1;
    for (lanes::Time begin = 0; begin <= recorded.end(); begin += part)
      spans.push_back({begin, std::min(begin + part, recorded.end() + 1)});
    return spans;
  }
  std::vector<std::size_t> by_length(spans.size());
  std::iota(by_length.begin(), by_length.end(), std::size_t{0});
  std::ranges::stable_sort(by_length, {}, [&](std::size_t i) { return spans[i].length(); });
  std::vector<Interval> chosen = {spans[by_length[spans.size() / 2]], spans[by_length.back()]};
  for (const Interval& span : spans)
    if (chosen.size() < kMaxSpans + 2 && std::ranges::find(chosen, span) == chosen.end()) chosen.push_back(span);
  return chosen;
}

/// In order; neighbours become one.
std::vector<Interval> joined(std::vector<Interval> spans) {
  std::ranges::sort(spans, {}, &Interval::begin);
  std::vector<Interval> out;
  for (const Interval& span : spans) {
    if (!out.empty() && span.begin <= out.back().end)
      out.back().end = std::max(out.back().end, span.end);
    else
      out.push_back(span);
  }
  return out;
}

void put_spans(FileEvents& file, const lanes::Recorded& recorded, std::int64_t budget) {
  std::vector<Interval> taken;
  double per_event = 8;  // characters, until the first block tells
  std::int64_t left = budget;
  for (const Interval& span : candidates_of(recorded)) {
    const std::size_t count = recorded.count(span);
    if (count > kMaxEvents || static_cast<double>(count) * per_event > static_cast<double>(left)) continue;
    const report::Block block = packed("", recorded.block(span));
    if (size_of_block(block) > left) continue;
    left -= size_of_block(block);
    if (count > 0) per_event = static_cast<double>(size_of_block(block)) / static_cast<double>(count);
    taken.push_back(span);
  }
  file.exact = joined(std::move(taken));
  for (std::size_t i = 0; i < file.exact.size(); ++i) {
    file.events += recorded.count(file.exact[i]);
    file.blocks.push_back(packed(fmt::format("events-{}", i), recorded.block(file.exact[i])));
  }
}

}  // namespace

report::Block packed(std::string id, std::string_view bytes) { return {std::move(id), base64(deflated(bytes))}; }

FileEvents file_events(const lanes::Timeline& timeline, const lanes::Recorded& recorded, std::int64_t budget) {
  FileEvents file;
  std::int64_t for_counters = std::min(budget / 10, kMostForCounters);
  std::vector<report::Block> counters;
  file.counters = put_levels(counters, "counters", recorded.end(), std::vector<std::size_t>(recorded.counters(), 1),
                             kMaxCounterTiles, for_counters, [&](int level, std::int64_t tile, const auto& group) {
                               return timeline.counters(level, tile, group);
                             });
  file.blocks = std::move(counters);
  for (const report::Block& block : file.blocks) budget -= size_of_block(block);
  const Interval whole{0, recorded.end() + 1};  // an event may lie at the end
  const auto events = static_cast<std::int64_t>(recorded.events());
  if (recorded.events() <= kMaxEvents && events * kMinPerEvent <= budget) {
    report::Block block = packed("events-0", recorded.block(whole));
    if (size_of_block(block) <= budget) {
      file.blocks.push_back(std::move(block));
      file.exact = {whole};
      file.events = recorded.events();
      return file;
    }
  }
  std::int64_t for_tiles = budget * 4 / 10;
  budget -= for_tiles;
  std::vector<report::Block> tiles;
  file.coarse = put_levels(tiles, "tiles", recorded.end(), recorded.rows_of_lanes(), kMaxTiles, for_tiles,
                           [&](int level, std::int64_t tile, const auto& group) {
                             return timeline.tiles(level, tile, group);
                           });
  std::ranges::move(tiles, std::back_inserter(file.blocks));
  put_spans(file, recorded, budget + for_tiles);
  return file;
}

}  // namespace stepscope::serve
