// Finds the rows of several ranks that are the same collective.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derive/ranks/collective_rows.h"

namespace stepscope::derive {

enum class Match : std::uint8_t {
  certain,   ///< by the group's sequence number
  by_order,  ///< k-th row of a step in which all members have equally many
  partial,   ///< by the longest common subsequence of the ranks' rows
};
std::string_view name_of(Match match);

/// A row of a rank.
struct Member {
  std::uint32_t rank;  ///< index into the trace's ranks
  std::uint32_t row;   ///< index into that rank's collective rows
};

/// One collective over the ranks that recorded it, at least two; or a message with its two ends.
struct Instance {
  std::uint32_t group;
  Exchange exchange;
  Match match;
  std::uint32_t first, count;  ///< range in Matches::members
};

/// Rows that should be one collective but differ.
struct Mismatch {
  enum class What : std::uint8_t { exchange, bytes, missing };
  std::uint32_t group;
  std::int64_t sequence;  ///< -1: matched by order
  What what;
  Member a,
      b;  ///< two that differ. If `missing`, `a` has the collective and `b.rank` lacks it
};

/// Further mismatches are dropped.
inline constexpr std::size_t kMaxMismatches = 10'000;

struct Matches {
  std::vector<Instance> instances;
  std::vector<Member> members;
  std::vector<Mismatch> mismatches;
  std::vector<std::uint32_t> crowded;  ///< ranks of steps with too many rows to compare (kMaxRows), ascending
};

/// Max rows of a rank in one step for which a common subsequence is computed.
inline constexpr std::size_t kMaxRows = 100'000;

/// `rows` are by rank, and by start within a rank. Rows of the same group are matched by sequence number if
/// all have one; else by order in each profiler step in which all members have equally many; else by the
/// longest common subsequence with the member that has the most rows (at most kMaxRows). Only runs of at
/// least 3 in it count. Matched rows have one exchange and, if it is even, one size.
///
/// `numbers` are the rank numbers by which messages name their ends; without them no message is matched.
/// Sequence numbers of messages are local to a rank. So messages from one rank to another, in one group and
/// step, are matched by order if both ends have equally many of the same sizes; else by the longest common
/// subsequence.
Matches match_collectives(const std::vector<std::vector<CollectiveRow>>& rows, const GroupNames& groups,
                          std::span<const std::int64_t> numbers = {});

/// The collectives of all ranks of a trace.
struct Collectives {
  GroupNames groups;
  std::vector<std::vector<CollectiveRow>> rows;  ///< by rank
  Matches matches;
  std::vector<std::int64_t> numbers;  ///< by rank; empty: not known

  const CollectiveRow& row(const Member& member) const { return rows[member.rank][member.row]; }
  std::span<const Member> members(const Instance& instance) const {
    return {matches.members.data() + instance.first, instance.count};
  }
  /// ns: the duration on the rank where the collective is shortest. That rank came last and did not wait. On
  /// any other rank, the rest of the duration is its wait. No clocks are compared.
  timeline::Time transfer(const Instance& instance) const;
};
/// `rows`: by rank, of these groups; `numbers`: see match_collectives.
Collectives matched(GroupNames groups, std::vector<std::vector<CollectiveRow>> rows,
                    std::vector<std::int64_t> numbers = {});
/// The rank numbers of a trace.
std::vector<std::int64_t> numbers_of(const trace::Trace& trace);
/// The collectives of all ranks of the trace.
Collectives collectives_of(const trace::Trace& trace);

}  // namespace stepscope::derive
