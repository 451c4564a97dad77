// What a row of events looks like from further and further away, so that a picture of it costs about the same
// at any zoom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "lanes/row_events.h"

namespace stepscope::lanes {

/// At level K, time is cut into buckets of 2^K ns. An event of at least 2^K ns stands for itself; all shorter
/// ones that begin in the same bucket are one item.
struct Item {
  std::uint64_t busy;     ///< ns: sum of the lengths of its events
  std::uint32_t first;    ///< index of its first event; it ends where the next item begins
  std::uint32_t longest;  ///< index of its longest event, the first of these
};

inline constexpr int kMaxLevel = 62;

/// Stores some levels of a row's items: the finest has at least 12 events per item, each other at most half
/// of the items of the one before. So it takes at most 16 × 2 ÷ 12 = 2.7 bytes per event.
class Pyramid {
 public:
  Pyramid() = default;
  /// O(events).
  explicit Pyramid(const RowEvents& events);

  /// The items of the coarsest stored level that is not above `level`, and one behind the last, whose `first`
  /// is the number of events. Empty if every stored level is above.
  std::span<const Item> items(int level) const;
  std::size_t bytes() const { return items_.size() * sizeof(Item); }

 private:
  struct Level {
    int level;
    std::size_t begin, end;  // in items_
  };
  void choose_levels(const RowEvents& events);
  void fill_first(const RowEvents& events);
  void fill_next(const RowEvents& events, const Level& below, const Level& level);

  std::vector<Level> levels_;
  Column<Item> items_;
};

}  // namespace stepscope::lanes
