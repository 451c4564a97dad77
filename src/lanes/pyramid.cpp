#include "lanes/pyramid.h"

#include <array>
#include <bit>

namespace stepscope::lanes {
namespace {

constexpr std::size_t kEventsPerItem = 12;
constexpr std::uint32_t kMinEvents = 4'096;  // of fewer events a picture is made without
constexpr std::size_t kFewItems = 1'024;     // of fewer items too

int bits(Time value) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))); }

/// The lowest level at which event i is in one item with the one before.
int joined_from(const RowEvents& events, std::uint32_t i) {
  const int same_bucket = bits(events.start(i) ^ events.start(i - 1));
  return std::max({same_bucket, bits(events.length(i)), bits(events.length(i - 1))});
}

/// By level: how many items there are.
using ItemCounts = std::array<std::size_t, kMaxLevel + 1>;
ItemCounts item_counts(const RowEvents& events) {
  std::array<std::size_t, kMaxLevel + 2> borders{};
  for (std::uint32_t i = 1; i < events.size(); ++i)
    ++borders[static_cast<std::size_t>(std::min(joined_from(events, i), kMaxLevel + 1))];
  ItemCounts counts{};
  std::size_t count = 1 + borders[kMaxLevel + 1];
  for (std::size_t level = kMaxLevel + 1; level-- > 0;) {
    counts[level] = count;
    count += borders[level];
  }
  return counts;
}

void join(Item& item, const Item& next, const RowEvents& events) {
  item.busy += next.busy;
  if (events.length(next.longest) > events.length(item.longest)) item.longest = next.longest;
}

}  // namespace

Pyramid::Pyramid(const RowEvents& events) {
  if (events.size() < kMinEvents) return;
  choose_levels(events);
  items_.reserve(levels_.empty() ? 0 : levels_.back().end + 1);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    fill_level(events, l);
    items_.push_back({0, events.size(), events.size()});
  }
}

void Pyramid::choose_levels(const RowEvents& events) {
  const ItemCounts counts = item_counts(events);
  std::size_t most = events.size() / kEventsPerItem, begin = 0;
  for (int level = 0; level <= kMaxLevel; ++level) {
    const std::size_t count = counts[static_cast<std::size_t>(level)];
    if (count > most) continue;
    levels_.push_back({level, begin, begin + count});
    begin += count + 1;
    most = count / 2;
    if (count <= kFewItems) break;
  }
}

void Pyramid::fill_level(const RowEvents& events, std::size_t at) {
  const auto add = [&](const Item& next) {
    if (items_.size() > levels_[at].begin && joined_from(events, next.first) <= levels_[at].level)
      join(items_.back(), next, events);
    else
      items_.push_back(next);
  };
  if (at > 0) {
    for (std::size_t i = levels_[at - 1].begin; i < levels_[at - 1].end; ++i) add(Item(items_[i]));
  } else {
    for (std::uint32_t i = 0; i < events.size(); ++i)
      add({static_cast<std::uint64_t>(events.length(i)), i, i});
  }
}

std::span<const Item> Pyramid::items(int level) const {
  std::size_t count = levels_.size();
  while (count > 0 && levels_[count - 1].level > level) --count;
  if (count == 0) return {};
  const Level& found = levels_[count - 1];
  return {items_.data() + found.begin, found.end - found.begin + 1};
}

}  // namespace stepscope::lanes
