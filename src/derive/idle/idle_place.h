// Where in the program a device's idle time was spent: the innermost host range open at the time.
#pragma once

#include <cstdint>
#include <functional>

#include "derive/idle/idle_cause.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// A part of an idle piece in which the same host range was innermost.
struct IdlePlace {
  std::uint32_t piece;   ///< index into the pieces
  trace::Row row;        ///< kNoRow: nothing but step marks was open
  trace::Row outermost;  ///< the outermost user range around `row` that is not a step mark; kNoRow: none
  std::int64_t time;     ///< ns
};

using UsePlace = std::function<void(const IdlePlace&)>;

/// Places of all pieces except pending ones, on the thread that launched the work that ended the gap. While
/// nothing is open there: on the other launching threads, those with the most launches first. The times of
/// the places add up to those of the pieces. One pass over each thread's rows.
void for_each_idle_place(const trace::Trace& trace, const trace::Rank& rank, const Column<IdlePiece>& pieces,
                         const UsePlace& use);

/// The places of all pieces on one thread.
void for_each_place_on(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId thread,
                       const Column<IdlePiece>& pieces, const UsePlace& use);

}  // namespace stepscope::derive
