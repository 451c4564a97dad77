#include "serve/file/file_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/base64.h"
#include "base/deflate.h"
#include "lanes/boxes.h"

namespace stepscope::serve {
namespace {

using timeline::Interval;

constexpr std::size_t kRowsAtOnce = 512;        // of one answer with tiles
constexpr lanes::Time kParts = 256;             // of a run without steps
constexpr std::int64_t kMinPerEvent = 2;        // characters of an event in a block, at least
constexpr std::size_t kMaxEvents = 40'000'000;  // of one block, which must be below 4 GiB
constexpr std::int64_t kMaxTiles = 4'096, kMaxCounterTiles = 128;  // of one level
constexpr std::int64_t kMostForCounters = 200'000;                 // characters
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

/// Levels from that of the whole run down, as far as the budget allows, but at least that; takes their size
/// from the budget.
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
    const bool needed = level >= whole_level(end);
    if (!needed && size_of_block(block) > budget) break;
    size = size_of_block(block);
    budget -= size;
    blocks.push_back(std::move(block));
    levels.finest = level;
    if (!needed && budget < size) break;  // the next one is at least as large
  }
  return levels;
}

std::vector<Interval> equal_parts(lanes::Time end) {
  std::vector<Interval> parts;
  const lanes::Time length = end / kParts + 1;
  for (lanes::Time begin = 0; begin <= end; begin += length)
    parts.push_back({begin, std::min(begin + length, end + 1)});
  return parts;
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

/// The events of some spans as blocks.
class Spans {
 public:
  Spans(const lanes::Recorded& recorded, std::vector<Interval> spans)
      : recorded_(recorded), spans_(joined(std::move(spans))) {
    for (const Interval& span : spans_) events_ += recorded.count(span);
  }

  std::size_t events() const { return events_; }
  /// O(events).
  std::int64_t pack() {
    std::int64_t size = 0;
    blocks_.clear();
    for (const Interval& span : spans_) {
      blocks_.push_back(packed(fmt::format("events-{}", blocks_.size()), recorded_.block(span)));
      size += size_of_block(blocks_.back());
    }
    return size;
  }
  void put(FileEvents& file) && {
    std::ranges::move(blocks_, std::back_inserter(file.blocks));
    file.exact = std::move(spans_);
    file.events = events_;
  }

 private:
  const lanes::Recorded& recorded_;
  std::vector<Interval> spans_;
  std::vector<report::Block> blocks_;
  std::size_t events_ = 0;
};

/// Puts the events of `chosen`, and of as many of `parts` as fit, from the first on. False if not even
/// `chosen` fit, or if there is nothing to put.
bool put_spans(FileEvents& file, const lanes::Recorded& recorded, std::int64_t budget,
               const std::vector<Interval>& parts, const std::vector<Interval>& chosen) {
  constexpr double kPerEvent = 6, kShrunk = 0.9;  // characters, until a first try tells
  constexpr int kMaxTries = 12;
  double room = static_cast<double>(budget) / kPerEvent;  // events
  bool measured = false;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    std::vector<Interval> taken = chosen;
    double count = 0;
    for (const Interval& part : parts) {
      count += static_cast<double>(recorded.count(part));
      if (count > room) break;
      taken.push_back(part);
    }
    if (taken.empty()) return false;
    const bool least = taken.size() <= std::max<std::size_t>(1, chosen.size());
    Spans spans(recorded, std::move(taken));
    if (spans.events() > kMaxEvents) {
      if (least) return false;
      room *= kShrunk / 2;
      continue;
    }
    const std::int64_t size = spans.pack();
    const double fits = static_cast<double>(spans.events()) * static_cast<double>(budget) /
                        static_cast<double>(std::max<std::int64_t>(1, size));
    if (size > budget && least) return false;
    if (size <= budget && (measured || fits <= room)) {
      std::move(spans).put(file);
      return true;
    }
    room = size > budget ? std::min(room, fits) * kShrunk : fits;
    measured = true;
  }
  return false;
}

/// The step of the median length and the longest first; without steps, or if these are too long, parts of the
/// run.
void put_telling_spans(FileEvents& file, const lanes::Recorded& recorded, std::int64_t budget) {
  const std::vector<Interval> steps = recorded.steps();
  if (!steps.empty()) {
    std::vector<Interval> by_length = steps;
    std::ranges::stable_sort(by_length, {}, &Interval::length);
    const Interval median = by_length[by_length.size() / 2];
    if (put_spans(file, recorded, budget, steps, {median, by_length.back()})) return;
    if (put_spans(file, recorded, budget, steps, {median})) return;
  }
  put_spans(file, recorded, budget, equal_parts(recorded.end()), {});
}

}  // namespace

report::Block packed(std::string id, std::string_view bytes) {
  return {std::move(id), base64(deflated(bytes))};
}

FileEvents file_events(const lanes::Timeline& timeline, const lanes::Recorded& recorded,
                       std::int64_t budget) {
  FileEvents file;
  std::int64_t for_counters = std::min(budget / 10, kMostForCounters);
  std::vector<report::Block> counters;
  file.counters = put_levels(
      counters, "counters", recorded.end(), std::vector<std::size_t>(recorded.counters(), 1),
      kMaxCounterTiles, for_counters,
      [&](int level, std::int64_t tile, const auto& group) { return timeline.counters(level, tile, group); });
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
  file.coarse = put_levels(
      tiles, "tiles", recorded.end(), recorded.rows_of_lanes(), kMaxTiles, for_tiles,
      [&](int level, std::int64_t tile, const auto& group) { return timeline.tiles(level, tile, group); });
  std::ranges::move(tiles, std::back_inserter(file.blocks));
  put_telling_spans(file, recorded, budget + for_tiles);
  return file;
}

}  // namespace stepscope::serve
