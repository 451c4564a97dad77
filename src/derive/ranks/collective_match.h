// Which rows of several ranks are one collective.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derive/ranks/collective_rows.h"

namespace stepscope::derive {

enum class Match : std::uint8_t {
  certain,   ///< by the group's sequence number
  by_order,  ///< the k-th of a step, where all members have equally many
  partial,   ///< by the longest common subsequence of what they do
};
std::string_view name_of(Match match);

/// A row of a rank.
struct Member {
  std::uint32_t rank;  ///< index into the trace's ranks
  std::uint32_t row;   ///< index into its collective rows
};

/// One collective over the ranks that recorded it, at least two; or a message with its two ends.
struct Instance {
  std::uint32_t group;
  Exchange exchange;
  Match match;
  std::uint32_t first, count;  ///< in Matches::members
};

/// Rows that should be one collective and are not.
struct Mismatch {
  enum class What : std::uint8_t { exchange, bytes, missing };
  std::uint32_t group;
  std::int64_t sequence;  ///< -1: matched by order
  What what;
  Member a,
      b;  ///< two that differ; of a missing rank `a` is one that has it and `b.rank` the one that has not
};

/// No more are kept.
inline constexpr std::size_t kMaxMismatches = 10'000;

struct Matches {
  std::vector<Instance> instances;
  std::vector<Member> members;
  std::vector<Mismatch> mismatches;
  std::vector<std::uint32_t> crowded;  ///< ranks with a step of more rows than are compared, ascending
};

/// Rows of a rank in one step of which a common subsequence is looked for.
inline constexpr std::size_t kMaxRows = 100'000;

/// `rows`: of each rank, by start. Groups whose members are equal in name are matched by sequence number
/// where all rows have one; else by order in each profiler step, where all members have equally many; else by
/// the longest common subsequence with the member that has most rows, at most kMaxRows, of which runs of at
/// least 3 are believed. Rows whose exchange or size differ are no match.
///
/// `numbers`: of the ranks, by which messages name their ends; without them none is matched. Sequence numbers
/// of messages count a rank's own, so the k-th of a step from one rank to another in a group is the k-th that
/// arrives, where both ends have equally many of the same sizes; else by the longest common subsequence.
Matches match_collectives(const std::vector<std::vector<CollectiveRow>>& rows, const GroupNames& groups,
                          std::span<const std::int64_t> numbers = {});

/// The collectives of all ranks of a trace.
struct Collectives {
  GroupNames groups;
  std::vector<std::vector<CollectiveRow>> rows;  ///< of each rank
  Matches matches;
  std::vector<std::int64_t> numbers;  ///< of each rank; empty: not known

  const CollectiveRow& row(const Member& member) const { return rows[member.rank][member.row]; }
  std::span<const Member> members(const Instance& instance) const {
    return {matches.members.data() + instance.first, instance.count};
  }
  /// ns that the collective lasts where it lasts least. As much longer as it lasts on another rank, that one
  /// waited: who came last did not wait. No clocks are compared.
  timeline::Time transfer(const Instance& instance) const;
};
/// `rows`: of each rank, of these groups; `numbers`: see match_collectives.
Collectives matched(GroupNames groups, std::vector<std::vector<CollectiveRow>> rows,
                    std::vector<std::int64_t> numbers = {});
/// Of the ranks of a trace.
std::vector<std::int64_t> numbers_of(const trace::Trace& trace);
/// Of all ranks of the trace.
Collectives collectives_of(const trace::Trace& trace);

}  // namespace stepscope::derive
