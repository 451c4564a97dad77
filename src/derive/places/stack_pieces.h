// A thread's Python stack over time, from calls or from samples.
#pragma once

#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// A stretch with one innermost frame. `samples`: how many stand for it, evenly from its begin on; 0: it
/// comes from calls, whose times are exact.
struct StackPiece {
  timeline::Interval span;
  trace::Row frame;
  std::int64_t samples = 0;
};

/// In order of time, without overlap; nothing where no frame is open, or where stepscope's recorder works.
/// Samples of the thread are used if it has any, else its calls. O(n) in the rows of a track.
Column<StackPiece> stack_pieces(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId thread,
                                timeline::Interval window);

/// The same of the track's own calls, or of its samples if it is a track of these: each is told by its span.
Column<StackPiece> calls_on(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId track,
                            timeline::Interval window);

/// The index of the piece that says where a call on the thread was made: of calls, the one that holds its
/// begin; of samples, that of the first one taken during the call. -1 if there is none. O(log n).
std::ptrdiff_t piece_during(const Column<StackPiece>& pieces, timeline::Interval call);

/// How much of a piece lies in `set`, ns: exactly for calls; for samples, by the instants at which they were
/// taken.
timeline::Time time_in(const StackPiece& piece, const timeline::MeasuredSet& set);

}  // namespace stepscope::derive
