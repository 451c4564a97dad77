// Matched collectives by group, kind and size: how far apart ranks came, how long they waited, how fast data
// moved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derive/ranks/collective_times.h"
#include "report/sheet.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class Derived;

/// Where the ranks of a group run.
enum class Span : std::uint8_t { unknown, one_host, several_hosts };
std::string_view name_of(Span span);

/// One collective that all its ranks began in their windows.
struct MatchedCollective {
  std::string group;   ///< what the program calls it: its description, else its name
  std::int64_t ranks;  ///< of the group, 0: not recorded
  Span span;
  derive::Exchange exchange;
  std::string_view dtype;
  std::int64_t bytes;    ///< of the rank that gives or takes most, 0: not recorded
  timeline::Time wait;   ///< summed over ranks; kNoTime: not known
  timeline::Time total;  ///< likewise of the durations
  derive::CollectiveTime time;
  bool too_short;  ///< for a rate: under 3 ticks of a clock, or under what the clocks are off
  bool whole;      ///< all ranks that take part are open
};

std::vector<MatchedCollective> matched_collectives(const Derived& derived,
                                                   const derive::CollectiveTimes& times);

/// What a skew was measured by.
enum class SkewBy : std::uint8_t { unknown, durations, clocks, both };
std::string_view name_of(SkewBy by);

/// Why no rate can be told.
enum class NoRate : std::uint8_t {
  known,  ///< it can
  no_data,
  one_rank,
  no_transfer,
  no_group,
  no_size,
  latency_bound
};
std::string_view name_of(NoRate why);

/// Matched collectives of one kind and size, or of sizes between two powers of 4. Times in ns; report::kNoInt
/// and kNoReal where not known.
struct MatchedSize {
  std::string group;
  std::int64_t ranks;
  Span span;
  derive::Exchange exchange;
  std::string dtype;
  std::int64_t bytes, bytes_max, count, total_bytes;
  std::int64_t total;  ///< durations, summed over collectives and ranks
  std::int64_t skew_p50, skew_p95, skew_max;
  SkewBy skew_by;
  std::int64_t skew_error;              ///< what clocks can be off at most
  std::int64_t wait;                    ///< summed over collectives and ranks
  std::int64_t transfer, transfer_p50;  ///< sum over collectives, and their median
  double alg_rate;                      ///< bytes / transfer, per second
  double bus_rate, bus_rate_p50;        ///< bytes on each link / transfer, per second
  double of_best;                       ///< bus_rate / the best seen on such a span
  NoRate no_rate;
};
/// Longest total first.
std::vector<MatchedSize> matched_sizes(const std::vector<MatchedCollective>& collectives);
extern const report::Sheet<MatchedSize> kMatchedSizeSheet;

/// What a collective takes beyond what its size explains, and the rate at which it grows with its size: the
/// line through the median transfers of each size.
struct LinkLine {
  derive::Exchange exchange;
  std::int64_t group_size;
  Span span;
  std::int64_t sizes, count;
  std::int64_t latency;  ///< ns; report::kNoInt: the line begins below 0
  double bus_rate;       ///< bytes per second on each link
  double off_p50;        ///< median distance of a size from the line / its transfer
};
/// Of those families that have sizes enough.
std::vector<LinkLine> link_lines(const std::vector<MatchedCollective>& collectives);
extern const report::Sheet<LinkLine> kLinkSheet;

}  // namespace stepscope::analyze
