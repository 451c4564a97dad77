// Begin and end events (ph B, E) become rows.
#pragma once

#include <vector>

#include "read/batch.h"

namespace stepscope::read {

/// A begin event, in the trace's ids, and when its partner ends it.
struct PairedHalf {
  HalfEvent begin;
  std::int64_t end;
};

/// Pairs the begin and end events of each track by time; returns the pairs, in the trace's ids. An end
/// closes the innermost open begin of its name, or else the innermost. At one instant ends come before
/// begins, except those that only a begin of this instant can be the partner of. Their order in the file
/// changes nothing. A begin without an end ends at kNoTime.
std::vector<PairedHalf> pair_halves(const trace::Trace& trace, trace::Rank& rank,
                                    std::vector<Batch>& batches);

/// Ends at kNoTime become the last instant of their track's recording.
void end_open_ranges(trace::Rank& rank);

}  // namespace stepscope::read
