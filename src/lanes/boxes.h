// The boxes that stand for one row of events in one tile.
#pragma once

#include <cstdint>
#include <vector>

#include "lanes/pyramid.h"
#include "lanes/row_events.h"

namespace stepscope::lanes {

inline constexpr std::uint32_t kBuckets = 512;  ///< of a tile

/// Tile `index` of a level: kBuckets buckets of 2^level ns. `level`: 0 … kMaxLevel, `index`: not negative.
struct Tile {
  int level = 0;
  std::int64_t index = 0;

  Time bucket() const { return Time{1} << level; }
  Time begin() const {
    return index > (kBehindAll >> level) / kBuckets ? kBehindAll : (index * kBuckets) << level;
  }
  Time end() const {
    const Time length = (kBehindAll >> level) < kBuckets ? kBehindAll : Time{kBuckets} << level;
    return begin() > kBehindAll - length ? kBehindAll : begin() + length;
  }

 private:
  static constexpr Time kBehindAll = kMaxTime + 1;
};

struct Box {
  std::uint32_t longest;     ///< index in the row's events
  std::uint32_t count;       ///< events
  std::uint16_t begin, end;  ///< first bucket; behind the last
  std::uint8_t busy;         ///< how much of it is filled, of 255, rounded up
  bool before, behind;       ///< a long event begins before the tile, or ends behind it
};

/// Appends the boxes in order of time: at most kBuckets of several events or of one that is shorter than a
/// bucket, and at most kBuckets + 1 of longer ones.
void add_boxes(const RowEvents& events, const Pyramid& pyramid, const Tile& tile, std::vector<Box>& out);

}  // namespace stepscope::lanes
