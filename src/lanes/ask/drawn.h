// What analyses found, where the timeline draws it: a path from event to event, and why devices were idle.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derive/idle/device_busy.h"
#include "derive/idle/idle_cause.h"
#include "lanes/run.h"
#include "timeline/interval.h"

namespace stepscope::lanes {

/// Parts of a path, or stretches of idle time, in one answer.
inline constexpr std::size_t kMaxDrawn = 2'000;

/// A part of a path on the clock of its rank's file.
struct PathPart {
  timeline::Interval span;
  Time time;              ///< that counts; less than the span's where the event waits
  std::string_view kind;  ///< what bounds it
  trace::Row row;         ///< kNoRow: it lies between two events
};

struct PathKind {
  std::string_view name, meaning;
  Time time;
  double share;  ///< of the path
};

struct DrawnPath {
  std::size_t rank = 0;              ///< index
  std::optional<std::int64_t> step;  ///< number
  Time time = 0;                     ///< of all parts
  std::vector<PathKind> kinds;
  std::vector<PathPart> parts;  ///< in order
  std::vector<std::string> notes;
};

/// Why the devices of one rank were idle. Pointers outlive the answer.
struct RankIdle {
  std::size_t rank;  ///< index
  const std::vector<derive::DeviceBusy>* devices;
  const Column<derive::IdlePiece>* pieces;
  const std::vector<trace::Row>* hosts;  ///< by piece: the host event that it waited for, or kNoRow
};

struct DrawnIdle {
  std::vector<RankIdle> ranks;
  std::vector<std::string> notes;
};

/// JSON: the parts in `window` (of the run's clock; all without one). Where they are too many, neighbours
/// that are short against the window are joined.
std::string path_json(const Run& run, const DrawnPath& path, const std::optional<timeline::Interval>& window);

/// JSON: the sums of all stretches by cause, and the longest ones in `window`.
std::string idle_json(const Run& run, const DrawnIdle& idle, const std::optional<timeline::Interval>& window);

}  // namespace stepscope::lanes
