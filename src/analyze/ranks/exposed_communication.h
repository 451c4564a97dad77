// What of a rank's communication no compute hid, parted into waiting for others and moving data.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/ranks/rank_communication.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// ns on the device; exposed = wait + transfer.
struct Exposed {
  timeline::Time wait = 0, transfer = 0;
  timeline::Time unknown = 0;    ///< of the transfer: nobody knows how much of it was waiting
  timeline::Time moving = 0;     ///< transfer, exposed or not
  std::int64_t collectives = 0;  ///< begun in the window
  std::int64_t known = 0;        ///< of these, whose waits are known

  timeline::Time all() const;
  void add(const Exposed& other);
};

/// By the rank's `places`. An instant at which one collective moves data and another waits is transfer; of
/// several that do the same it goes to the one that began last. `waits`: by row, ns at its start, kNoTime:
/// not known.
std::vector<Exposed> exposed_by_place(const RankCommunication& of, const trace::Rank& rank,
                                      std::span<const derive::CollectiveRow> rows,
                                      std::span<const timeline::Time> waits);

}  // namespace stepscope::analyze
