#include "derive/ranks/collective_match.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace stepscope::derive {
namespace {

using Rows = std::vector<std::vector<CollectiveRow>>;

constexpr std::size_t kBand = 64;  // max difference of row indices in a common subsequence
constexpr std::size_t kMinRun = 3;

/// One rank's rows of one group and, for matching by order, one step.
struct Part {
  std::uint32_t rank;
  std::vector<std::uint32_t> rows;
};

class Matcher {
 public:
  Matcher(const Rows& rows, Matches& out) : rows_(rows), out_(out) {}

  /// `known`: the files record the group of these rows. If not, different ranks may do different things.
  void match(const std::vector<Part>& parts, bool known) {
    if (parts.size() < 2) return;
    known_ = known;
    const bool counted = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
      return std::all_of(part.rows.begin(), part.rows.end(),
                         [&](std::uint32_t row) { return rows_[part.rank][row].sequence >= 0; });
    });
    if (counted)
      by_sequence(parts);
    else
      by_step(parts, false);
  }

  /// The messages from one rank to another, as recorded by both.
  void match_messages(const std::vector<Part>& ends) {
    known_ = true;
    if (ends.size() == 2) by_step(ends, true);
  }

 private:
  const CollectiveRow& at(Member m) const { return rows_[m.rank][m.row]; }

  void by_sequence(const std::vector<Part>& parts) {
    // A sequence number may have several rows, e.g. the broadcasts of an uneven gather; these match by order.
    std::map<std::pair<std::int64_t, std::uint32_t>, std::vector<Member>> instances;
    for (const Part& part : parts) {
      std::map<std::int64_t, std::uint32_t> seen;
      for (const std::uint32_t row : part.rows) {
        const std::int64_t sequence = rows_[part.rank][row].sequence;
        instances[{sequence, seen[sequence]++}].push_back({part.rank, row});
      }
    }
    const auto edges = edges_of(parts);
    for (const auto& [key, members] : instances) {
      if (members.size() < parts.size()) report_missing(parts, edges, members, key.first);
      add(members, Match::certain, key.first);
    }
  }

  /// First and last sequence number of each part. Numbers outside are beyond the edge of that rank's
  /// recording.
  std::vector<std::pair<std::int64_t, std::int64_t>> edges_of(const std::vector<Part>& parts) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> edges;
    for (const Part& part : parts) {
      const auto [least, most] =
          std::minmax_element(part.rows.begin(), part.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
            return rows_[part.rank][a].sequence < rows_[part.rank][b].sequence;
          });
      edges.emplace_back(rows_[part.rank][*least].sequence, rows_[part.rank][*most].sequence);
    }
    return edges;
  }

  /// Reports ranks that lack this collective within their recorded range.
  void report_missing(const std::vector<Part>& parts,
                      const std::vector<std::pair<std::int64_t, std::int64_t>>& edges,
                      const std::vector<Member>& members, std::int64_t sequence) {
    auto member = members.begin();  // by rank, as the parts are
    for (std::size_t i = 0; i < parts.size(); ++i) {
      while (member != members.end() && member->rank < parts[i].rank) ++member;
      const bool there = member != members.end() && member->rank == parts[i].rank;
      if (!there && edges[i].first < sequence && sequence < edges[i].second)
        mismatch(sequence, Mismatch::What::missing, members.front(), {parts[i].rank, 0});
    }
  }

  void by_step(const std::vector<Part>& parts, bool messages) {
    std::map<std::int64_t, std::vector<Part>> steps;
    for (const Part& part : parts)
      for (const std::uint32_t row : part.rows) {
        std::vector<Part>& step = steps[rows_[part.rank][row].step];
        if (step.empty() || step.back().rank != part.rank) step.push_back({part.rank, {}});
        step.back().rows.push_back(row);
      }
    for (const auto& [number, step] : steps) {
      if (step.size() < 2) continue;
      const bool equal =
          known_ && number >= 0 && step.size() == parts.size() &&
          std::all_of(step.begin(), step.end(), [&](const Part& part) {
            return part.rows.size() == step.front().rows.size() && (!messages || alike(part, step.front()));
          });
      if (equal)
        in_order(step);
      else
        by_subsequence(step);
    }
  }

  void in_order(const std::vector<Part>& parts) {
    for (std::size_t k = 0; k < parts.front().rows.size(); ++k) {
      std::vector<Member> members;
      for (const Part& part : parts) members.push_back({part.rank, part.rows[k]});
      add(members, Match::by_order, -1);
    }
  }

  /// True if two parts of equal size have the same rows.
  bool alike(const Part& a, const Part& b) const {
    for (std::size_t k = 0; k < a.rows.size(); ++k)
      if (!same({a.rank, a.rows[k]}, {b.rank, b.rows[k]})) return false;
    return true;
  }

  bool same(Member a, Member b) const {
    return at(a).exchange == at(b).exchange && (at(a).bytes == at(b).bytes || !is_even(at(a).exchange));
  }

  void by_subsequence(const std::vector<Part>& parts) {
    const Part& longest = *std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.rows.size() < b.rows.size();
    });
    if (longest.rows.size() > kMaxRows) {
      for (const Part& part : parts) out_.crowded.push_back(part.rank);
      return;
    }
    std::vector<std::vector<Member>> members(longest.rows.size());
    for (std::size_t k = 0; k < longest.rows.size(); ++k)
      members[k].push_back({longest.rank, longest.rows[k]});
    for (const Part& part : parts) {
      if (part.rank == longest.rank) continue;
      for (const auto& [k, i] : common(longest, part)) members[k].push_back({part.rank, part.rows[i]});
    }
    for (const std::vector<Member>& found : members)
      if (found.size() > 1) add(found, Match::partial, -1);
  }

  /// Index pairs of the longest common subsequence; runs shorter than kMinRun are dropped. Banded: O(rows ×
  /// kBand).
  std::vector<std::pair<std::size_t, std::size_t>> common(const Part& a, const Part& b) const {
    const std::size_t n = a.rows.size(), m = b.rows.size(), width = 2 * kBand + 1;
    const auto column = [&](std::size_t i, std::size_t j) { return j + kBand - i; };
    const auto inside = [&](std::size_t i, std::size_t j) {
      return j + kBand >= i && j <= i + kBand && j <= m;
    };
    std::vector<std::uint16_t> length((n + 1) * width);
    const auto best = [&](std::size_t i, std::size_t j) -> std::uint16_t {
      return i <= n && inside(i, j) ? length[i * width + column(i, j)] : std::uint16_t{0};
    };
    const auto equal = [&](std::size_t i, std::size_t j) {
      return same({a.rank, a.rows[i]}, {b.rank, b.rows[j]});
    };
    for (std::size_t i = n; i-- > 0;)
      for (std::size_t j = std::min(m, i + kBand + 1); j-- > 0 && j + kBand >= i;)
        if (inside(i, j))
          length[i * width + column(i, j)] =
              equal(i, j) ? static_cast<std::uint16_t>(std::min(0xFFFE, best(i + 1, j + 1) + 0) + 1)
                          : std::max(best(i + 1, j), best(i, j + 1));
    std::vector<std::pair<std::size_t, std::size_t>> pairs, run;
    const auto close = [&] {
      if (run.size() >= kMinRun) pairs.insert(pairs.end(), run.begin(), run.end());
      run.clear();
    };
    for (std::size_t i = 0, j = 0; i < n && j < m && inside(i, j);) {
      if (equal(i, j)) {
        if (!run.empty() && (run.back().first + 1 != i || run.back().second + 1 != j)) close();
        run.emplace_back(i++, j++);
      } else {
        best(i + 1, j) >= best(i, j + 1) ? ++i : ++j;
      }
    }
    close();
    return pairs;
  }

  void add(const std::vector<Member>& members, Match match, std::int64_t sequence) {
    if (members.size() < 2) return;
    for (const Member& member : members) {
      if (same(member, members.front())) continue;
      const bool other = at(member).exchange != at(members.front()).exchange;
      mismatch(sequence, other ? Mismatch::What::exchange : Mismatch::What::bytes, members.front(), member);
      return;
    }
    out_.instances.push_back({at(members.front()).group, at(members.front()).exchange, match,
                              static_cast<std::uint32_t>(out_.members.size()),
                              static_cast<std::uint32_t>(members.size())});
    out_.members.insert(out_.members.end(), members.begin(), members.end());
  }

  void mismatch(std::int64_t sequence, Mismatch::What what, Member a, Member b) {
    if (out_.mismatches.size() < kMaxMismatches)
      out_.mismatches.push_back({at(a).group, sequence, what, a, b});
  }

  const Rows& rows_;
  Matches& out_;
  bool known_ = true;
};

}  // namespace

std::string_view name_of(Match match) {
  constexpr std::string_view kNames[] = {"certain", "by order", "partial"};
  return kNames[static_cast<std::size_t>(match)];
}

namespace {

/// Messages by group, sender and receiver; the sender's part comes first.
std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::vector<Part>> messages_of(
    const Rows& rows, std::span<const std::int64_t> numbers) {
  std::map<std::tuple<std::uint32_t, std::int64_t, std::int64_t>, std::vector<Part>> messages;
  for (const bool senders : {true, false})
    for (std::uint32_t rank = 0; rank < numbers.size(); ++rank)
      for (std::uint32_t i = 0; i < rows[rank].size(); ++i) {
        const CollectiveRow& row = rows[rank][i];
        if (row.peer < 0 || row.sends != senders) continue;
        const std::int64_t from = senders ? numbers[rank] : row.peer;
        const std::int64_t to = senders ? row.peer : numbers[rank];
        std::vector<Part>& ends = messages[{row.group, from, to}];
        if (ends.empty() || ends.back().rank != rank) ends.push_back({rank, {}});
        ends.back().rows.push_back(i);
      }
  return messages;
}

}  // namespace

Matches match_collectives(const Rows& rows, const GroupNames& groups, std::span<const std::int64_t> numbers) {
  std::vector<std::vector<Part>> of_group(groups.size());
  for (std::uint32_t rank = 0; rank < rows.size(); ++rank)
    for (std::uint32_t row = 0; row < rows[rank].size(); ++row) {
      if (rows[rank][row].exchange == Exchange::point_to_point) continue;
      std::vector<Part>& parts = of_group[rows[rank][row].group];
      if (parts.empty() || parts.back().rank != rank) parts.push_back({rank, {}});
      parts.back().rows.push_back(row);
    }
  Matches out;
  Matcher matcher(rows, out);
  for (std::uint32_t group = 0; group < of_group.size(); ++group)
    matcher.match(of_group[group], groups.known(group));
  for (const auto& [ends, parts] : messages_of(rows, numbers)) matcher.match_messages(parts);
  std::sort(out.crowded.begin(), out.crowded.end());
  out.crowded.erase(std::unique(out.crowded.begin(), out.crowded.end()), out.crowded.end());
  return out;
}

timeline::Time Collectives::transfer(const Instance& instance) const {
  timeline::Time least = std::numeric_limits<timeline::Time>::max();
  for (const Member& member : members(instance)) least = std::min(least, row(member).end - row(member).start);
  return least;
}

Collectives matched(GroupNames groups, std::vector<std::vector<CollectiveRow>> rows,
                    std::vector<std::int64_t> numbers) {
  Matches matches = match_collectives(rows, groups, numbers);
  return {std::move(groups), std::move(rows), std::move(matches), std::move(numbers)};
}

std::vector<std::int64_t> numbers_of(const trace::Trace& trace) {
  std::vector<std::int64_t> numbers;
  for (const trace::Rank& rank : trace.ranks) numbers.push_back(rank.rank);
  return numbers;
}

Collectives collectives_of(const trace::Trace& trace) {
  GroupNames groups;
  std::vector<std::vector<CollectiveRow>> rows;
  for (const trace::Rank& rank : trace.ranks) rows.push_back(collective_rows(trace, rank, groups));
  return matched(std::move(groups), std::move(rows), numbers_of(trace));
}

}  // namespace stepscope::derive
