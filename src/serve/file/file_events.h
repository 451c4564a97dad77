// The timeline of a report file, within a budget: all events, or coarse tiles and the events of some spans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lanes/recorded.h"
#include "lanes/timeline.h"
#include "report/html/live.h"
#include "timeline/interval.h"

namespace stepscope::serve {

/// Levels of tiles that are there, from the finest to the coarsest.
struct Levels {
  int finest = 0, coarsest = -1;
};

struct FileEvents {
  std::vector<report::Block> blocks;
  std::vector<timeline::Interval> exact;  ///< spans with all their events, apart and in order
  std::size_t events = 0;                 ///< that are there; those of several spans count several times
  Levels coarse, counters;
};

/// `budget`: characters of all blocks.
FileEvents file_events(const lanes::Timeline& timeline, const lanes::Recorded& recorded, std::int64_t budget);

/// `bytes` as they stand in a block.
report::Block packed(std::string id, std::string_view bytes);

}  // namespace stepscope::serve
