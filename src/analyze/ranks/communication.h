// How long ranks wait for each other in collectives, how fast data moves, and which modules wait for either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/ranks/collective_sizes.h"

namespace stepscope::analyze {

/// Communication that no compute hides, ns on devices in the window; exposed = exposed_wait +
/// exposed_transfer, which are both report::kNoInt where nothing is known of waits.
struct ExposedTimes {
  std::int64_t collectives;  ///< begun in the window
  std::int64_t exposed, exposed_wait, exposed_transfer;
  std::int64_t unknown;  ///< of exposed_transfer: nobody knows how much of it was waiting
};

/// Of a rank that communicates on a device.
struct RankExposed : ExposedTimes {
  std::int64_t rank;
  std::int64_t communication;  ///< ns in which a collective runs
  double overlap;              ///< (communication - exposed) / communication
  double transfer_overlap;     ///< the same of transfer only
};

/// By who issued the collectives, summed over ranks.
struct PlaceExposed : ExposedTimes {
  IssuePlace place;
  std::int64_t ranks;
  double share;  ///< exposed / that of all places
};

struct Communication {
  std::vector<MatchedSize> sizes;
  std::vector<LinkLine> links;
  std::vector<RankExposed> ranks;
  std::vector<PlaceExposed> places;  ///< most exposed first
  std::vector<std::string> notes;
};
Communication communication_of(const Derived& derived);

}  // namespace stepscope::analyze
