#include "timeline/owner.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace stepscope::timeline {
namespace {

TEST(Owner, PriorityThenTheLastToBegin) {
  const std::vector<Claim> claims = {{{0, 10}, 1}, {{2, 6}, 1}, {{4, 5}, 2}, {{12, 14}, 0}, {{3, 3}, 9}};
  const Column<Owned> pieces = owned_by(claims);
  const std::vector<std::pair<Interval, std::size_t>> expected = {{{0, 2}, 0}, {{2, 4}, 1},  {{4, 5}, 2},
                                                                  {{5, 6}, 1}, {{6, 10}, 0}, {{12, 14}, 3}};
  ASSERT_EQ(pieces.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(pieces[i].span, expected[i].first) << i;
    EXPECT_EQ(pieces[i].claim, expected[i].second) << i;
  }
}

TEST(Owner, EveryInstantAsABitmapHasIt) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Claim> claims(random() % 12);
    for (Claim& claim : claims) {
      claim.span.begin = static_cast<Time>(random() % 30);
      claim.span.end = claim.span.begin + static_cast<Time>(random() % 15);
      claim.priority = static_cast<int>(random() % 3);
    }
    std::vector<int> expected(60, -1), got(60, -1);
    for (Time t = 0; t < 60; ++t) {
      int& best = expected[static_cast<std::size_t>(t)];
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (!claims[i].span.contains(t)) continue;
        const auto better = [&](const Claim& x, const Claim& y) {
          return x.priority != y.priority ? x.priority > y.priority : x.span.begin >= y.span.begin;
        };
        if (best < 0 || better(claims[i], claims[static_cast<std::size_t>(best)])) best = static_cast<int>(i);
      }
    }
    for (const Owned& piece : owned_by(claims))
      for (Time t = piece.span.begin; t < piece.span.end; ++t)
        got[static_cast<std::size_t>(t)] = static_cast<int>(piece.claim);
    EXPECT_EQ(got, expected) << round;
  }
}

}  // namespace
}  // namespace stepscope::timeline
