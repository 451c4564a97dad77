// Which rows of two ranks are one collective: by number, by order, by similarity; and which differ.
#include "derive/ranks/collective_match.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

using Rows = std::vector<std::vector<CollectiveRow>>;

CollectiveRow row(std::uint32_t group, std::int64_t sequence, std::int64_t step, std::int64_t bytes,
                  Exchange exchange = Exchange::all_reduce) {
  return {group, exchange, sequence, bytes, 2, step, 0, 10, 0};
}

GroupNames one_group() {
  GroupNames groups;
  groups.id("0, 1", "0");
  return groups;
}

/// {row of rank 0, row of rank 1} of each instance.
std::vector<std::pair<int, int>> pairs(const Matches& matches) {
  std::vector<std::pair<int, int>> out;
  for (const Instance& instance : matches.instances) {
    EXPECT_EQ(instance.count, 2u);
    out.emplace_back(matches.members[instance.first].row, matches.members[instance.first + 1].row);
  }
  return out;
}
using Pairs = std::vector<std::pair<int, int>>;

TEST(CollectiveMatch, BySequenceNumber) {
  const Rows rows = {{row(0, 4, 1, 8), row(0, 5, 1, 8), row(0, 6, 1, 16)},
                     {row(0, 5, 1, 8), row(0, 6, 1, 16), row(0, 7, 1, 8)}};
  const Matches matches = match_collectives(rows, one_group());
  EXPECT_EQ(pairs(matches), (Pairs{{1, 0}, {2, 1}}));
  EXPECT_EQ(matches.instances[0].match, Match::certain);
  EXPECT_TRUE(matches.mismatches.empty());  // 4 and 7 lie at the edges of the recordings
}

TEST(CollectiveMatch, OneNumberWithSeveralRows) {
  const Rows rows = {{row(0, 1, 1, 8), row(0, 1, 1, 16)}, {row(0, 1, 1, 8), row(0, 1, 1, 16)}};
  EXPECT_EQ(pairs(match_collectives(rows, one_group())), (Pairs{{0, 0}, {1, 1}}));
}

TEST(CollectiveMatch, WhatDiffersIsNoMatch) {
  const Rows rows = {
      {row(0, 1, 1, 8), row(0, 2, 1, 8), row(0, 3, 1, 8), row(0, 4, 1, 8)},
      {row(0, 1, 1, 8), row(0, 2, 1, 64), row(0, 4, 1, 8, Exchange::all_gather), row(0, 5, 1, 8)}};
  const Matches matches = match_collectives(rows, one_group());
  EXPECT_EQ(pairs(matches), (Pairs{{0, 0}}));
  ASSERT_EQ(matches.mismatches.size(), 3u);
  EXPECT_EQ(matches.mismatches[0].what, Mismatch::What::bytes);
  EXPECT_EQ(matches.mismatches[0].sequence, 2);
  EXPECT_EQ(matches.mismatches[1].what, Mismatch::What::missing);
  EXPECT_EQ(matches.mismatches[1].b.rank, 1u);
  EXPECT_EQ(matches.mismatches[2].what, Mismatch::What::exchange);
}

TEST(CollectiveMatch, SomeAreOfUnequalSizes) {
  for (const Exchange uneven : {Exchange::all_to_all_v, Exchange::gather, Exchange::scatter}) {
    const Matches matches =
        match_collectives({{row(0, 1, 1, 8, uneven)}, {row(0, 1, 1, 64, uneven)}}, one_group());
    EXPECT_EQ(pairs(matches), (Pairs{{0, 0}}));
    EXPECT_TRUE(matches.mismatches.empty());
  }
}

// Without numbers: rows match by order in step 1, where both ranks have equally many. In step 2 one rank lost
// a row: rows in the same order on both match if they are a run of three.
TEST(CollectiveMatch, ByOrderAndBySimilarity) {
  const Rows rows = {{row(0, -1, 1, 8), row(0, -1, 1, 8), row(0, -1, 2, 1), row(0, -1, 2, 2),
                      row(0, -1, 2, 3), row(0, -1, 2, 4), row(0, -1, 2, 5)},
                     {row(0, -1, 1, 8), row(0, -1, 1, 8), row(0, -1, 2, 1), row(0, -1, 2, 3),
                      row(0, -1, 2, 4), row(0, -1, 2, 5)}};
  const Matches matches = match_collectives(rows, one_group());
  EXPECT_EQ(pairs(matches), (Pairs{{0, 0}, {1, 1}, {4, 3}, {5, 4}, {6, 5}}));
  EXPECT_EQ(matches.instances[1].match, Match::by_order);
  EXPECT_EQ(matches.instances[2].match, Match::partial);
}

// One row more than the max, and one row fewer on the other rank: nothing is matched, and the ranks are
// listed.
TEST(CollectiveMatch, StepsOfTooManyRowsAreNamed) {
  Rows rows(2, std::vector<CollectiveRow>(kMaxRows + 1, row(0, -1, 1, 8)));
  rows[1].pop_back();
  Matches matches = match_collectives(rows, one_group());
  EXPECT_TRUE(matches.instances.empty());
  EXPECT_EQ(matches.crowded, (std::vector<std::uint32_t>{0, 1}));
  rows[0].assign(4, row(0, -1, 1, 8));
  rows[1].assign(3, row(0, -1, 1, 8));
  matches = match_collectives(rows, one_group());
  EXPECT_EQ(matches.instances.size(), 3u);
  EXPECT_TRUE(matches.crowded.empty());
}

TEST(CollectiveMatch, GroupsAndMessagesStayApart) {
  GroupNames groups = one_group();
  EXPECT_EQ(groups.id("0, 1", "1"), 1u);
  EXPECT_EQ(groups.id("0, 1", "0"), 0u);
  const Rows rows = {{row(0, 1, 1, 8), row(1, 1, 1, 8), row(0, 2, 1, 8, Exchange::point_to_point)},
                     {row(1, 1, 1, 8), row(0, 2, 1, 8, Exchange::point_to_point)}};
  EXPECT_EQ(pairs(match_collectives(rows, groups)), (Pairs{{1, 0}}));
}

CollectiveRow message(std::int64_t peer, bool sends, std::int64_t bytes) {
  CollectiveRow out = row(0, 1, 1, bytes, Exchange::point_to_point);
  out.peer = peer;
  out.sends = sends;
  return out;
}

// Equally many at both ends, but rank 0's second message and rank 1's last were not recorded: messages in the
// same order at both ends match.
TEST(CollectiveMatch, MessagesOfOtherSizesAreFoundAgain) {
  const Rows rows = {
      {message(7, true, 1), message(7, true, 3), message(7, true, 4), message(7, true, 5)},
      {message(6, false, 1), message(6, false, 2), message(6, false, 3), message(6, false, 4)}};
  const std::vector<std::int64_t> numbers = {6, 7};
  EXPECT_TRUE(match_collectives(rows, one_group(), numbers).instances.empty());  // 3 and 4: run of only 2
  const Rows more = {
      {message(7, true, 1), message(7, true, 3), message(7, true, 4), message(7, true, 5)},
      {message(6, false, 2), message(6, false, 3), message(6, false, 4), message(6, false, 5)}};
  const Matches matches = match_collectives(more, one_group(), numbers);
  EXPECT_EQ(pairs(matches), (Pairs{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(matches.instances[0].match, Match::partial);
  EXPECT_TRUE(match_collectives(more, one_group()).instances.empty());
}

}  // namespace
}  // namespace stepscope::derive
