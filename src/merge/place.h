// One time line for all sources.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "merge/source.h"

namespace stepscope::merge {

struct PlaceOptions {
  bool align = true;  ///< fit clocks to the ends of collectives; else as recorded
  unsigned threads = 1;
  std::function<void(const std::string& activity)> progress;
};

/// Settles where each source's clock lies; sources must have their kinds and ranks. Opens the ranks' traces
/// one after the other when there are several. Returns sentences about what could not be aligned.
std::vector<std::string> place_sources(std::vector<Source>& sources, const PlaceOptions& options);

/// Of the earliest event that has a place, Unix ns, rounded down to a second; 0 when all is relative.
std::int64_t base_of(const std::vector<Source>& sources);

}  // namespace stepscope::merge
