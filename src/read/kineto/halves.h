// Turns begin and end events (ph B, E) into rows.
#pragma once

#include <vector>

#include "read/batch.h"

namespace stepscope::read {

/// A begin event, in the trace's ids, and the time of its end.
struct PairedHalf {
  HalfEvent begin;
  std::int64_t end;
};

/// Pairs the begin and end events of each track by time; returns the pairs, in the trace's ids. An end closes
/// the innermost open begin of its name, or else the innermost. At one instant ends come before begins,
/// except ends whose only possible partner begins at that instant. The order in the file does not matter. A
/// begin without an end ends at kNoTime.
std::vector<PairedHalf> pair_halves(const trace::Trace& trace, trace::Rank& rank,
                                    std::vector<Batch>& batches);

/// Moves ends at kNoTime to the last time recorded on their track.
void end_open_ranges(trace::Rank& rank);

}  // namespace stepscope::read
