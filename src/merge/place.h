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

/// Places each source's clock on the time line; sources must have their kinds and ranks. Opens the ranks'
/// traces one after the other if there are several. Returns sentences about what could not be aligned.
std::vector<std::string> place_sources(std::vector<Source>& sources, const PlaceOptions& options);

/// Notes recordings that are a day or more apart, or were before their clocks were aligned: they may be of
/// two jobs.
void note_distance(const std::vector<Source>& sources, std::vector<std::string>& notes);

/// The time of the earliest event, Unix ns, rounded down to a second; 0 if no event has a time.
std::int64_t base_of(const std::vector<Source>& sources);

}  // namespace stepscope::merge
