// Numbers over time, and the lowest and highest of each bucket of a tile.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/memory.h"
#include "lanes/boxes.h"
#include "lanes/clock.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::lanes {

struct Range {
  float lowest, highest;
  friend bool operator==(const Range&, const Range&) = default;
};

/// A number that keeps its value until the next change.
class Steps {
 public:
  struct Change {
    Time time;
    float value;  ///< from then on
  };
  /// `changes` in order of time. O(n).
  explicit Steps(Column<Change> changes);

  bool empty() const { return changes_.empty(); }
  Time first() const { return changes_.front().time; }
  float highest() const;
  /// Of the values in [from, to), which must not end before first(). O(log n).
  Range in(Time from, Time to) const;

 private:
  Range in_changes(std::size_t begin, std::size_t end) const;
  Column<Change> changes_;
  std::vector<Column<Range>> blocks_;  // level k: of 16^(k+1) changes each
};

/// Times in which something works: its number is the share of a bucket.
struct Busy {
  timeline::MeasuredSet set;
};

struct Counter {
  std::string key;   ///< like a lane's
  std::string name;  ///< e.g. "GPU 0 busy"
  std::string unit;  ///< "share", "bytes" or "count"
  std::uint32_t rank = 0;
  double max = 0;
  std::variant<Busy, Steps> values;
};

/// Counters of a run. Further ones are left out.
inline constexpr std::size_t kMaxCounters = 1'000;

std::vector<Counter> counters_of(const trace::Trace& trace, const RunClock& clock, unsigned threads);

/// Neighbouring buckets of one value.
struct Stretch {
  std::uint16_t begin, end;  ///< first bucket; behind the last
  Range range;
};
/// Nothing where the counter has no value yet, or behind `end` of the run.
std::vector<Stretch> stretches_in(const Counter& counter, const Tile& tile, Time end);

}  // namespace stepscope::lanes
