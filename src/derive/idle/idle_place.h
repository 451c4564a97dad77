// Where in the program a device's idle time was spent: the innermost host range that was open then.
#pragma once

#include <cstdint>
#include <vector>

#include "derive/idle/idle_cause.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// A part of an idle piece in which the same host range was innermost.
struct IdlePlace {
  std::uint32_t piece;   ///< index into the pieces
  trace::Row row;        ///< kNoRow: nothing but step marks was open
  trace::Row outermost;  ///< the outermost user range around it, step marks aside; kNoRow: none
  std::int64_t time;     ///< ns
};

/// Places of all pieces but pending ones: on the thread that launched what ended the gap; while nothing is
/// open there, on the other launching threads, the one with most launches first. Their times add up to those
/// of the pieces. One pass over each thread's rows.
Column<IdlePlace> idle_places(const trace::Trace& trace, const trace::Rank& rank,
                              const Column<IdlePiece>& pieces);

/// The same of all pieces, on one thread.
Column<IdlePlace> places_on(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId thread,
                            const Column<IdlePiece>& pieces);

}  // namespace stepscope::derive
