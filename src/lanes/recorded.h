// All that is drawn, as columns for a file: docs/serve.md has their form, in "The report file".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lanes/run.h"
#include "timeline/interval.h"

namespace stepscope::lanes {

struct EventName {
  std::int64_t rank, id;
  friend auto operator<=>(const EventName&, const EventName&) = default;
};

/// Refers to its run.
class Recorded {
 public:
  /// O(events).
  explicit Recorded(const Run& run);

  Time end() const { return run_.end; }
  std::size_t lanes() const { return run_.lanes.all.size(); }
  std::size_t counters() const { return run_.counters.size(); }
  /// That have a row.
  std::size_t events() const { return events_; }
  /// Rows of each lane.
  std::vector<std::size_t> rows_of_lanes() const;
  /// Of all ranks, by start, without those that overlap an earlier one. Each ends where the next begins.
  std::vector<timeline::Interval> steps() const;
  /// Events that lie in [from, to), or partly.
  std::size_t count(const timeline::Interval& span) const;
  /// The same, in binary.
  std::string block(const timeline::Interval& span) const;
  /// JSON: the members "kinds", "kind_names" and "steps", which name the numbers of all blocks.
  std::string legend() const;
  /// The marks of the steps, and the longest events: of each lane at least one, `most` altogether unless
  /// there are more lanes.
  std::vector<EventName> notable(std::size_t most) const;

 private:
  struct Columns;
  using Sort = std::pair<trace::Kind, trace::StringId>;  // with its category
  void take_row(Columns& columns, const Lane& lane, const RowEvents& events,
                const timeline::Interval& span) const;
  std::uint32_t step_of(const trace::Rank& rank, trace::Row row) const;

  const Run& run_;
  std::size_t events_ = 0;
  std::map<Sort, std::uint32_t> sorts_;
  std::map<std::int64_t, std::uint32_t> step_numbers_;
};

}  // namespace stepscope::lanes
