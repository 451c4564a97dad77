#include "lanes/boxes.h"

namespace stepscope::lanes {
namespace {

constexpr std::uint8_t kFull = 255;

class RowInTile {
 public:
  RowInTile(const RowEvents& events, const Tile& tile, std::vector<Box>& out)
      : events_(events), tile_(tile), begin_(tile.begin()), end_(tile.end()), out_(out) {}

  /// The first event that the tile shows. One that begins before it is shown if it is long.
  std::uint32_t first() const {
    const std::uint32_t i = events_.first_from(begin_);
    const bool belongs_before =
        i < events_.size() && events_.start(i) < begin_ && events_.length(i) < tile_.bucket();
    return belongs_before ? i + 1 : i;
  }

  /// Takes the items in order of time; false when they lie behind the tile.
  bool add(const Item& item, std::uint32_t count) {
    const Time start = events_.start(item.first);
    if (start >= end_) return false;
    const bool is_long = count == 1 && item.busy >= static_cast<std::uint64_t>(tile_.bucket());
    const std::uint16_t at = bucket_of(std::max(start, begin_));
    if (is_long)
      add_long(item, start, at);
    else if (in_run_ && out_.back().begin == at)
      extend(item, count);
    else
      begin_run(item, count, at);
    in_run_ = !is_long;
    return true;
  }

 private:
  std::uint16_t bucket_of(Time time) const {
    return static_cast<std::uint16_t>((time - begin_) >> tile_.level);
  }

  void add_long(const Item& item, Time start, std::uint16_t at) {
    const Time end = events_.end(item.first);
    const bool behind = end > end_;
    const auto until = static_cast<std::uint16_t>(behind ? kBuckets : std::uint32_t{bucket_of(end - 1)} + 1);
    out_.push_back({item.first, 1, at, until, kFull, start < begin_, behind});
  }

  void begin_run(const Item& item, std::uint32_t count, std::uint16_t at) {
    busy_ = item.busy;
    longest_ = events_.length(item.longest);
    out_.push_back({item.longest, count, at, static_cast<std::uint16_t>(at + 1), share(), false, false});
  }

  void extend(const Item& item, std::uint32_t count) {
    Box& box = out_.back();
    busy_ += item.busy;
    box.count += count;
    box.busy = share();
    const Time length = events_.length(item.longest);
    if (length <= longest_) return;
    longest_ = length;
    box.longest = item.longest;
  }

  std::uint8_t share() const {
    const auto bucket = static_cast<unsigned __int128>(tile_.bucket());
    const auto filled = (static_cast<unsigned __int128>(busy_) * kFull + bucket - 1) >> tile_.level;
    return filled > kFull ? kFull : static_cast<std::uint8_t>(filled);
  }

  const RowEvents& events_;
  const Tile tile_;
  const Time begin_, end_;
  std::vector<Box>& out_;
  // Of the last box, if it is a run of short events.
  bool in_run_ = false;
  std::uint64_t busy_ = 0;
  Time longest_ = 0;
};

}  // namespace

void add_boxes(const RowEvents& events, const Pyramid& pyramid, const Tile& tile, std::vector<Box>& out) {
  RowInTile row(events, tile, out);
  const std::uint32_t first = row.first();
  const std::span<const Item> items = pyramid.items(tile.level);
  if (items.empty()) {
    for (std::uint32_t i = first; i < events.size(); ++i)
      if (!row.add({static_cast<std::uint64_t>(events.length(i)), i, i}, 1)) return;
    return;
  }
  auto item = std::lower_bound(items.begin(), items.end() - 1, first,
                               [](const Item& a, std::uint32_t event) { return a.first < event; });
  for (; item != items.end() - 1; ++item)
    if (!row.add(*item, (item + 1)->first - item->first)) return;
}

}  // namespace stepscope::lanes
