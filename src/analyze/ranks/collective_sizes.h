// Matched collectives by group, kind and size: the skew between ranks, their waits, and transfer rates.
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
  std::string group;   ///< the group's description, else its name
  std::int64_t ranks;  ///< size of the group; 0: not recorded
  Span span;
  derive::Exchange exchange;
  std::string_view dtype;
  std::int64_t bytes;    ///< max over the ranks; 0: not recorded
  timeline::Time wait;   ///< summed over ranks; kNoTime: not known
  timeline::Time total;  ///< durations, summed over ranks
  derive::CollectiveTime time;
  bool too_short;  ///< for a rate: transfer under 3 clock ticks, or under the error of the clocks
  bool whole;      ///< all ranks that take part are open
};

std::vector<MatchedCollective> matched_collectives(const Derived& derived,
                                                   const derive::CollectiveTimes& times);

/// How a skew was measured.
enum class SkewBy : std::uint8_t { unknown, durations, clocks, both };
std::string_view name_of(SkewBy by);

/// Why a rate is missing.
enum class NoRate : std::uint8_t {
  known,  ///< it is not missing
  no_data,
  one_rank,
  no_transfer,
  no_group,
  no_size,
  latency_bound,
  ranks_missing
};
std::string_view name_of(NoRate why);

/// Matched collectives of one kind and size, or of sizes between two powers of 4. Times in ns; report::kNoInt
/// and kNoReal if not known.
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
  std::int64_t skew_error;              ///< max over the collectives of the error that clocks add
  std::int64_t wait;                    ///< summed over collectives and ranks
  std::int64_t transfer, transfer_p50;  ///< sum and median over the collectives
  double alg_rate;                      ///< bytes / transfer, per second
  double bus_rate, bus_rate_p50;        ///< bytes on each link / transfer, per second
  double of_best;                       ///< bus_rate / the best rate seen on the same span
  NoRate no_rate;
};
/// Longest total first.
std::vector<MatchedSize> matched_sizes(const std::vector<MatchedCollective>& collectives);
extern const report::Sheet<MatchedSize> kMatchedSizeSheet;

/// Latency and rate of a family of collectives (one kind, group size and span): the line through the median
/// transfer of each size.
struct LinkLine {
  derive::Exchange exchange;
  std::int64_t group_size;
  Span span;
  std::int64_t sizes, count;
  std::int64_t latency;  ///< ns; report::kNoInt: the line begins below 0
  double bus_rate;       ///< bytes per second on each link
  double off_p50;        ///< median over sizes: distance from the line / transfer
};
/// Only families with enough sizes.
std::vector<LinkLine> link_lines(const std::vector<MatchedCollective>& collectives);
extern const report::Sheet<LinkLine> kLinkSheet;

}  // namespace stepscope::analyze
