// How long ranks wait for each other in collectives, how fast data moves, and which modules wait for either.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "analyze/ranks/collective_sizes.h"

namespace stepscope::analyze {

/// Communication while no compute runs, ns on devices in the window. exposed = exposed_wait +
/// exposed_transfer; both are report::kNoInt if no wait is known.
struct ExposedTimes {
  std::int64_t collectives;  ///< begun in the window
  std::int64_t exposed, exposed_wait, exposed_transfer;
  std::int64_t unknown;  ///< part of exposed_transfer that may be waiting: the waits are not known
};

/// One rank that communicates on a device.
struct RankExposed : ExposedTimes {
  std::int64_t rank;
  std::int64_t communication;  ///< ns in which a collective runs
  double overlap;              ///< (communication - exposed) / communication
  double transfer_overlap;     ///< the same for transfer only
};

/// One place that issues collectives, summed over ranks.
struct PlaceExposed : ExposedTimes {
  IssuePlace place;
  std::int64_t ranks;
  double share;  ///< exposed / exposed of all places
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
