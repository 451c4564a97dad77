// Lays the events of a track out in rows, so that no two in a row overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"
#include "trace/trace.h"

namespace stepscope::lanes {

/// Rows of a lane. Programs nest less deeply; what does not fit is hidden.
inline constexpr std::size_t kMaxRows = 128;
/// In place of a row: the event is not drawn.
inline constexpr std::uint8_t kNotDrawn = 0xFF;

/// False for what is drawn as a curve: reports of memory and samples of counters.
constexpr bool is_drawn(trace::Kind kind) {
  return kind != trace::Kind::memory && kind != trace::Kind::counter;
}

struct Layout {
  std::vector<Column<trace::Row>> rows;  ///< from the top: events in order of time
  std::uint32_t events = 0;              ///< in all rows
  std::uint32_t hidden = 0;              ///< events for which there was no row
};

/// A host range gets a row below the one that it is in, any other event the first that is free; ranges that
/// are projected onto a stream come below all of its work. O(events × rows in use). `place`: by Row of the
/// rank; filled for the track's events with their row or kNotDrawn.
Layout lay_out(const trace::Rank& rank, const trace::Track& track, std::span<std::uint8_t> place);

}  // namespace stepscope::lanes
