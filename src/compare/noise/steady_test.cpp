#include "compare/noise/steady.h"

#include <gtest/gtest.h>

#include "compare/change.h"
#include "step_times.h"

namespace stepscope::compare {
namespace {

using Times = std::vector<double>;

// Median 100, median absolute deviation 1 in any half.
const Times kSteady = {99, 100, 101, 99, 100, 101, 99, 100, 101, 99, 100, 101};

Times after(Times slow) {
  slow.insert(slow.end(), kSteady.begin(), kSteady.end());
  return slow;
}

TEST(Steady, WarmUpIsFoundNotAssumed) {
  EXPECT_EQ(warming_up(kSteady), 0u);
  EXPECT_EQ(warming_up(after({300})), 1u);
  EXPECT_EQ(warming_up(after({150, 120, 110, 107})), 6u);     // four slow steps, and two more for the tail
  EXPECT_EQ(warming_up(Times{150, 100, 100, 100, 100}), 0u);  // too few to know
  EXPECT_EQ(warming_up(Times{150, 149, 148, 147, 146, 100, 100, 100}), 4u);  // at most half
}

TEST(Steady, BothSidesLoseAlike) {
  const Unsteady out = unsteady({after({150, 120}), kSteady});
  EXPECT_EQ(out.warm_up, 3u);
  EXPECT_TRUE(out.pauses[0].empty() && out.pauses[1].empty());
  EXPECT_EQ(unsteady({after({150, 120}), Times{100, 101}}).warm_up, 1u);  // half of the shorter
}

TEST(Steady, ASingleSlowStepIsAPause) {
  Times one = kSteady;
  one[5] = 300;
  EXPECT_EQ(unsteady({kSteady, one}).pauses, (std::vector<std::vector<std::size_t>>{{}, {5}}));
  Times two = one;
  two[8] = 300;  // two of 12 are more than one in ten: all steps of both count
  EXPECT_EQ(unsteady({one, two}).pauses, (std::vector<std::vector<std::size_t>>{{}, {}}));
}

/// The change of B over A as `diff` sees it.
RatioChange compared(const Times& a, const Times& b) {
  const Unsteady out = unsteady({a, b});
  const auto counted = [&](Times times, std::size_t side) {
    times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(out.warm_up));
    for (auto at = out.pauses[side].rbegin(); at != out.pauses[side].rend(); ++at)
      times.erase(times.begin() + static_cast<std::ptrdiff_t>(*at));
    return times;
  };
  return ratio_change(counted(a, 0), counted(b, 1));
}

// bench/COMPARE.md has the rates of more pairs.
TEST(Steady, EqualProgramsAreRarelyCalledDifferent) {
  constexpr int kPairs = 2000;
  for (const test::NoisyProgram& program : test::noisy_programs()) {
    if (!program.excuse.empty()) continue;
    for (const std::size_t steps : {12u, 20u, 50u}) {
      test::Random random(steps);
      int wrong = 0;
      for (int i = 0; i < kPairs; ++i) {
        const Times a = program.make(steps, random);
        wrong += compared(a, program.make(steps, random)).changed();
      }
      EXPECT_LE(wrong, kPairs / 20) << program.name << ", " << steps << " steps";
    }
  }
}

TEST(Steady, ThreePercentAreFoundInTwentySteps) {
  constexpr int kPairs = 2000;
  test::Random random(20);
  int found = 0;
  for (int i = 0; i < kPairs; ++i) {
    const Times a = test::correlated(20, 0, 0.02, random);
    Times b = test::correlated(20, 0, 0.02, random);
    for (double& time : b) time *= 1.03;
    const RatioChange change = compared(a, b);
    found += change.changed() && change.low > 1;
  }
  EXPECT_GE(found, kPairs * 9 / 10);
}

}  // namespace
}  // namespace stepscope::compare
