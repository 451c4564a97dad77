#include "lanes/pyramid.h"

#include <array>
#include <bit>

namespace stepscope::lanes {
namespace {

constexpr std::size_t kEventsPerItem = 8;
constexpr std::uint32_t kMinEvents = 4'096;  // of fewer events a picture is made without
constexpr std::size_t kFewItems = 1'024;     // of fewer items too

int bits(Time value) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))); }

struct Span {
  Time start, length;
};

Span span_of(const RowEvents& events, std::uint32_t i) {
  const Time start = events.start(i);
  return {start, events.end(i) - start};
}

/// The lowest level at which an event is in one item with the one before it.
int joined_from(const Span& before, const Span& event) {
  return std::max(bits(event.start ^ before.start), bits(event.length | before.length));
}

/// By level: how many items there are.
using ItemCounts = std::array<std::size_t, kMaxLevel + 1>;
ItemCounts item_counts(const RowEvents& events) {
  std::array<std::size_t, kMaxLevel + 2> borders{};
  Span before = span_of(events, 0);
  for (std::uint32_t i = 1; i < events.size(); ++i) {
    const Span event = span_of(events, i);
    ++borders[static_cast<std::size_t>(std::min(joined_from(before, event), kMaxLevel + 1))];
    before = event;
  }
  ItemCounts counts{};
  std::size_t count = 1 + borders[kMaxLevel + 1];
  for (std::size_t level = kMaxLevel + 1; level-- > 0;) {
    counts[level] = count;
    count += borders[level];
  }
  return counts;
}

}  // namespace

Pyramid::Pyramid(const RowEvents& events) {
  if (events.size() < kMinEvents) return;
  choose_levels(events);
  items_.reserve(levels_.empty() ? 0 : levels_.back().end + 1);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (l == 0)
      fill_first(events);
    else
      fill_next(events, levels_[l - 1], levels_[l]);
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

void Pyramid::fill_first(const RowEvents& events) {
  Span before{0, 0};
  Time longest = 0;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Span event = span_of(events, i);
    if (i == 0 || joined_from(before, event) > levels_.front().level) {
      items_.push_back({static_cast<std::uint64_t>(event.length), i, i});
      longest = event.length;
    } else {
      Item& item = items_.back();
      item.busy += static_cast<std::uint64_t>(event.length);
      if (event.length > longest) item.longest = i, longest = event.length;
    }
    before = event;
  }
}

void Pyramid::fill_next(const RowEvents& events, const Level& below, const Level& level) {
  for (std::size_t i = below.begin; i < below.end; ++i) {
    const Item next = items_[i];
    const bool joins = i > below.begin && joined_from(span_of(events, next.first - 1),
                                                      span_of(events, next.first)) <= level.level;
    if (!joins) {
      items_.push_back(next);
      continue;
    }
    Item& item = items_.back();
    item.busy += next.busy;
    if (events.length(next.longest) > events.length(item.longest)) item.longest = next.longest;
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
