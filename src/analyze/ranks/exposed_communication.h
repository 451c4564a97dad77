// A rank's exposed communication (no compute runs meanwhile), split into waiting for other ranks and moving
// data.
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
  timeline::Time unknown = 0;    ///< part of `transfer` that may be waiting: the waits are not known
  timeline::Time moving = 0;     ///< transfer, exposed or not
  std::int64_t collectives = 0;  ///< begun in the window
  std::int64_t known = 0;        ///< collectives with a known wait

  timeline::Time all() const;
  void add(const Exposed& other);
};

/// By place, as in `of.places`. While one collective moves data and another waits, the time is transfer.
/// Among collectives that do the same, it belongs to the one that began last. `waits`: by row, ns at the
/// row's start; kNoTime: not known.
std::vector<Exposed> exposed_by_place(const RankCommunication& of, const trace::Rank& rank,
                                      std::span<const derive::CollectiveRow> rows,
                                      std::span<const timeline::Time> waits);

}  // namespace stepscope::analyze
