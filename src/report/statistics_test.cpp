#include "report/statistics.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope::report {
namespace {

TEST(Statistics, QuantileIsOneOfTheValues) {
  std::vector<std::int64_t> values{40, 10, 30, 20};
  EXPECT_EQ(quantile(values, 0.50), 20);  // two of four are at most 20
  EXPECT_EQ(quantile(values, 0.51), 30);
  EXPECT_EQ(quantile(values, 0.95), 40);
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_EQ(quantile(values, 1), 40);
  EXPECT_EQ(quantile({}, 0.5), kNoInt);
}

TEST(Statistics, MeanRoundsToTheNearest) {
  EXPECT_EQ(mean(7, 2), 4);
  EXPECT_EQ(mean(10, 3), 3);
  EXPECT_EQ(mean(11, 3), 4);
  EXPECT_EQ(mean(-7, 2), -4);
  EXPECT_EQ(mean(5, 0), kNoInt);
}

TEST(Statistics, SumsStayInRange) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(plus(kMax, 1), kMax);
  EXPECT_EQ(plus(kNoInt + 1, -1), kNoInt + 1);
  EXPECT_EQ(plus(2, 3), 5);
}

}  // namespace
}  // namespace stepscope::report
