// The events of one row of a lane, on the run's clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "lanes/clock.h"
#include "trace/trace.h"

namespace stepscope::lanes {

/// In order of time, without overlap. Refers to the trace, the clock and the list of rows.
class RowEvents {
 public:
  RowEvents(const trace::EventTable& events, const ToRun& to_run, std::span<const trace::Row> rows)
      : events_(events), to_run_(to_run), rows_(rows) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(rows_.size()); }
  trace::Row row(std::uint32_t i) const { return rows_[i]; }
  Time start(std::uint32_t i) const { return to_run_(events_.start[rows_[i]]); }
  Time end(std::uint32_t i) const { return to_run_(events_.end[rows_[i]]); }
  Time length(std::uint32_t i) const { return end(i) - start(i); }

  /// The first that starts at `time` or later, or ends behind it. O(log n).
  std::uint32_t first_from(Time time) const {
    const auto found = std::partition_point(rows_.begin(), rows_.end(), [&](trace::Row row) {
      return to_run_(events_.start[row]) < time && to_run_(events_.end[row]) <= time;
    });
    return static_cast<std::uint32_t>(found - rows_.begin());
  }

 private:
  const trace::EventTable& events_;
  const ToRun& to_run_;
  std::span<const trace::Row> rows_;
};

}  // namespace stepscope::lanes
