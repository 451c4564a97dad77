#include "analyze/steps/long_steps.h"

#include <gtest/gtest.h>

#include "report/table.h"

namespace stepscope::analyze {
namespace {

TEST(LongSteps, BeyondATenthAndTheSpread) {
  EXPECT_EQ(longest_usual(std::vector<std::int64_t>{100, 100, 100, 900}), report::kNoInt);
  EXPECT_EQ(longest_usual(std::vector<std::int64_t>{100, 100, 100, 900, 100}), 110);
  // Distances from 100: 0, 10, 10, 20, 20. The median distance is 10: 3.5 × 1.4826 × 10 = 51.9.
  EXPECT_EQ(longest_usual(std::vector<std::int64_t>{90, 110, 100, 120, 80}), 151);
}

}  // namespace
}  // namespace stepscope::analyze
