// For a program that runs only on the CPU: the main thread's time, divided by what it was doing.
#pragma once

#include <optional>
#include <vector>

#include "derive/idle/idle_cause.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// The rank's main thread, nullopt without host ranges.
std::optional<trace::TrackId> main_thread(const trace::Trace& trace, const trace::Rank& rank);

/// When collectives ran on the CPU ("gloo:all_reduce"), on any thread.
timeline::IntervalSet collective_time(const trace::Trace& trace, const trace::Rank& rank);
/// When a thread was in operators other than those that issue collectives.
timeline::IntervalSet computing_time(const trace::Trace& trace, const trace::Rank& rank,
                                     trace::TrackId thread);

/// Pieces of `window` on one thread, in time order: `input` while data is loaded; `sync` while a collective
/// runs on the CPU and the thread computes nothing; else what the thread did. Their lengths add up to the
/// window. O(n log n) in rows.
Column<IdlePiece> host_pieces(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId thread,
                              timeline::Interval window);

/// Start times, ascending, of the program's calls that a backward pass goes through. A node was made by the
/// last operator with its sequence number; the program's call is the outermost operator around that one.
/// Where Python is recorded, also the begins of the modules' calls around them: frozen layers run before.
std::vector<timeline::Time> forward_begins(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
