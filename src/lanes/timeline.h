// What a timeline asks about a run, and is told: docs/serve.md has the forms of the answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/table.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::lanes {

/// Lanes or counters that one question may name.
inline constexpr std::size_t kMaxAsked = 256;

/// A place on the timeline: of equal times the lane with the smaller number comes first, then the upper row.
struct Place {
  std::int64_t time = 0;  ///< ns from the run's begin
  std::uint32_t lane = 0, row = 0;
};

struct Query {
  std::string_view text;
  std::optional<Place> after, before;  ///< the next hit behind or before it is wanted too; not both
};

class Recorded;
struct DrawnPath;
struct DrawnIdle;

/// Made once from a Trace, which must outlive it. Then it never changes; any number of threads may ask.
/// Numbers that make no sense get an Error of one sentence.
class Timeline {
 public:
  /// `threads`: 0 for all of the machine. O(events).
  explicit Timeline(const trace::Trace& trace, unsigned threads = 0);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// JSON: the lanes, the counters, the steps.
  std::string summary() const;
  /// JSON: 4,096 names from id `block` * 4,096 on. An Error if there are none.
  Result<std::string> names(std::int64_t block) const;
  /// Binary: tile `index` of `level` for some lanes, at most 16 MiB.
  Result<std::string> tiles(std::int64_t level, std::int64_t index,
                            std::span<const std::uint32_t> lanes) const;
  /// Binary: the same for counters.
  Result<std::string> counters(std::int64_t level, std::int64_t index,
                               std::span<const std::uint32_t> counters) const;
  /// JSON: names that match, and when. O(events).
  Result<std::string> search(const Query& query) const;
  /// JSON: all about one event. An Error if there is none. O(events of the rank).
  Result<std::string> event(std::int64_t rank, std::int64_t id) const;
  /// Tables about [from, to), ns, on some lanes; at most until the run's end. O(events in it).
  Result<report::Report> area(std::int64_t from, std::int64_t to, std::span<const std::uint32_t> lanes) const;

  /// JSON: the parts of a path that overlap a span of time, all without one; neighbours are joined where they
  /// are too many.
  Result<std::string> path(const DrawnPath& path, std::optional<timeline::Interval> span) const;
  /// JSON: why devices were idle, with the longest stretches that overlap a span of time, or of all.
  Result<std::string> idle(const DrawnIdle& idle, std::optional<timeline::Interval> span) const;

  /// For a file. Refers to this.
  Recorded recorded() const;

  /// Bytes that the pyramids take, for measurements.
  std::size_t pyramid_bytes() const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace stepscope::lanes
