// The lanes of a run: which there are, in what order, and what people call them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "lanes/clock.h"
#include "lanes/layout.h"
#include "lanes/pyramid.h"
#include "trace/trace.h"

namespace stepscope::lanes {

using LaneId = std::uint32_t;
inline constexpr LaneId kNoLane = 0xFFFFFFFF;
/// Lanes of a run. Of more tracks, those with most events are kept.
inline constexpr std::size_t kMaxLanes = 10'000;

/// In the order of lanes.
enum class Role : std::uint8_t {
  compute,
  communication,
  copy,
  main,
  autograd,
  loader,  ///< a worker process that loads data
  thread,
  other,  ///< nothing is known about it
};
inline constexpr std::size_t kRoles = 8;
std::string_view name_of(Role role);

struct LaneRow {
  Column<trace::Row> events;
  Pyramid pyramid;
};

/// A track of the recording with events that are drawn.
struct Lane {
  std::uint32_t rank = 0;  ///< index
  trace::TrackId track = 0;
  bool device = false;
  Role role = Role::other;
  std::string key = {};    ///< the same each time the file is read, and unique
  std::string name = {};   ///< e.g. "main", "stream 7"
  std::string title = {};  ///< e.g. "thread 123 (python)"
  std::vector<LaneRow> rows = {};
  std::uint32_t events = 0;  ///< in its rows
  std::uint32_t hidden = 0;  ///< events for which there was no row
};

struct Lanes {
  std::vector<Lane> all;                       ///< in order
  std::size_t left_out = 0;                    ///< tracks beyond kMaxLanes
  std::vector<std::vector<LaneId>> of_track;   ///< by rank and track: its lane or kNoLane
  std::vector<Column<std::uint8_t>> place;     ///< by rank and Row: its row in its lane or kNotDrawn
  std::vector<std::vector<bool>> is_autograd;  ///< by rank and track
};

/// The rank's number as lanes are addressed by: 0 where the file does not say one.
inline std::int64_t number_of(const trace::Rank& rank) { return rank.rank < 0 ? 0 : rank.rank; }

/// O(events); lays lanes out on up to `threads` threads.
Lanes lanes_of(const trace::Trace& trace, const RunClock& clock, unsigned threads);

inline RowEvents events_of(const trace::Trace& trace, const RunClock& clock, const Lane& lane,
                           const LaneRow& row) {
  return {trace.ranks[lane.rank].events, clock.of_rank[lane.rank], row.events};
}

}  // namespace stepscope::lanes
