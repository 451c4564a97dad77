#include "compare/noise/change_points.h"

#include <gtest/gtest.h>

#include "step_times.h"

namespace stepscope::compare {
namespace {

using Points = std::vector<std::size_t>;

TEST(ChangePoints, WhereTheMeanChanges) {
  EXPECT_EQ(change_points(std::vector<double>{10, 11, 10, 11, 10, 15, 16, 15, 16, 15}), Points{5});
  EXPECT_EQ(
      change_points(std::vector<double>{10, 11, 10, 11, 10, 11, 20, 21, 20, 21, 20, 21, 5, 6, 5, 6, 5, 6}),
      (Points{6, 12}));
}

TEST(ChangePoints, NothingInShortOrConstantSeries) {
  EXPECT_EQ(change_points({}), Points{});
  EXPECT_EQ(change_points(std::vector<double>{1, 2, 9}), Points{});
  EXPECT_EQ(change_points(std::vector<double>(20, 3.0)), Points{});
}

TEST(ChangePoints, OneOddRunIsNoChange) {
  std::vector<double> values = {10, 11, 10, 11, 10, 11, 10, 11, 10, 11};
  values[4] = 30;
  EXPECT_EQ(change_points(values), Points{});
}

TEST(ChangePoints, HoldTheirLevel) {
  constexpr int kSeries = 300;
  for (const std::size_t runs : {8u, 20u}) {
    test::Random random(runs);
    int wrong = 0;
    for (int i = 0; i < kSeries; ++i)
      wrong += !change_points(test::correlated(runs, 0, 0.02, random)).empty();
    EXPECT_LE(wrong, kSeries / 20) << runs << " runs";
  }
}

}  // namespace
}  // namespace stepscope::compare
