// Marks that an answer adds to a copy of a recording's file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::report {

/// Times are ns in the file's own time base.
struct Drawing {
  /// A thread or a stream, by its pid and tid in the file.
  struct Lane {
    std::string pid, tid;
  };
  /// From an instant of one event to an instant of another.
  struct Arrow {
    std::uint32_t from_lane, to_lane;  ///< indices into `lanes`
    std::int64_t from, to;
    std::int64_t weight;    ///< ns
    std::string_view type;  ///< outlives the drawing
    bool critical;          ///< on the critical path
  };
  struct Counter {
    std::string name, value_name;
    std::string pid;  ///< the process that it belongs to
  };
  /// The value of a counter from a time on.
  struct Point {
    std::int64_t time;
    double value;
    std::uint32_t counter;
  };

  std::int64_t events = 0;              ///< length of the file's event list when it was read
  std::vector<std::uint32_t> critical;  ///< indices in that list of events on the critical path, ascending
  bool only_critical = false;           ///< omit other events with a duration, except annotations and frames
  std::vector<Lane> lanes;
  std::vector<Arrow> arrows;
  std::vector<Counter> counters;
  std::vector<Point> points;
};

}  // namespace stepscope::report
