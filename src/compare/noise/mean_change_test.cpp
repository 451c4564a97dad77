#include "compare/noise/mean_change.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/noise/student_t.h"

namespace stepscope::compare {
namespace {

using Sample = std::vector<double>;

// Each value is the opposite of the one before, so the largest plausible correlation is 0.
const Sample kSwinging = {99, 101, 99, 101, 99, 101, 99, 101, 99, 101};

Sample plus(Sample sample, double shift) {
  for (double& value : sample) value += shift;
  return sample;
}

TEST(StudentT, TheTables) {
  // Two-sided 5 % for 1, 4, 10 and 38 degrees of freedom, as printed in tables.
  EXPECT_NEAR(t_critical(0.05, 1), 12.7062, 1e-3);
  EXPECT_NEAR(t_critical(0.05, 4), 2.7764, 1e-4);
  EXPECT_NEAR(t_critical(0.05, 10), 2.2281, 1e-4);
  EXPECT_NEAR(t_critical(0.05, 38), 2.0244, 1e-4);
  EXPECT_NEAR(t_beyond(1, 1), 0.5, 1e-12);  // Cauchy: half of it is beyond 1
  EXPECT_NEAR(t_beyond(0, 7), 1, 1e-12);
}

TEST(MeanChange, WithoutCorrelationItIsWelchsInterval) {
  // 10 values 1 from their mean: variance 10 / 9, of the mean 1 / 9; of the difference 2 / 9, with 18
  // degrees.
  const MeanChange change = difference_of_means(kSwinging, plus(kSwinging, 5), Samples::steps);
  EXPECT_LT(change.correlation, 0);
  EXPECT_DOUBLE_EQ(change.change, 5);
  EXPECT_NEAR(change.error, std::sqrt(2.0 / 9), 1e-12);
  EXPECT_NEAR(change.freedom, 18, 1e-9);
  EXPECT_NEAR(change.drift, 0, 1e-12);
  EXPECT_NEAR(change.margin(), 2.1009 * std::sqrt(2.0 / 9), 1e-4);
  EXPECT_NEAR(change.seen(), (2.1009 + 1.3304) * std::sqrt(2.0 / 9), 1e-4);  // t of 90 %, one-sided
  EXPECT_DOUBLE_EQ(change.effective, 10);
}

TEST(MeanChange, ARatioIsThatOfTheMeans) {
  Sample twice = kSwinging;
  for (double& value : twice) value *= 2;
  const MeanChange change = ratio_of_means(kSwinging, twice, Samples::steps);
  EXPECT_NEAR(change.change, std::log(2), 1e-12);
  EXPECT_NEAR(change.error, std::sqrt(2.0 / 9) / 100, 1e-12);  // of each side, 1 % of its mean in each step
  EXPECT_FALSE(ratio_of_means(kSwinging, Sample(10, 0), Samples::steps).known());
}

TEST(MeanChange, NeighboursThatAgreeCountLess) {
  // Four values up, four down: alike neighbours leave the mean open.
  const Sample waves = {99, 99, 99, 99, 101, 101, 101, 101, 99, 99, 99, 99, 101, 101, 101, 101};
  const MeanChange change = difference_of_means(waves, waves, Samples::steps);
  EXPECT_GT(change.correlation, 0.3);
  EXPECT_LT(change.effective, 8);
  EXPECT_GT(change.error, 2 * std::sqrt(2.0 / 15));
  const Sample trend = {100, 101, 102, 103, 104, 105, 106, 107};  // as if it went on for ever
  EXPECT_GT(difference_of_means(trend, trend, Samples::steps).margin(), 7);
}

TEST(MeanChange, ASlopeOfOneSideWidensTheInterval) {
  Sample rising = kSwinging;
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] += 0.4 * static_cast<double>(i);
  EXPECT_NEAR(difference_of_means(rising, rising, Samples::steps).drift, 0, 1e-12);
  EXPECT_GT(difference_of_means(kSwinging, rising, Samples::steps).drift, 0);
}

TEST(MeanChange, TooFewAndNoNoise) {
  EXPECT_FALSE(difference_of_means(Sample{1, 2, 1}, Sample{1, 2, 1}, Samples::steps).known());
  EXPECT_FALSE(difference_of_means({}, {}, Samples::steps).known());
  const MeanChange exact = difference_of_means(Sample(6, 5.0), Sample(6, 7.0), Samples::steps);
  EXPECT_TRUE(exact.known());
  EXPECT_EQ(exact.margin(), 0);
  EXPECT_EQ(exact.p_value(0), 0);
  EXPECT_EQ(exact.p_value(2), 1);
}

TEST(MeanChange, RunsShareTheirSpread) {
  // Squares 5 and 5 with 6 degrees of freedom: variance 10 / 6.
  const MeanChange four = difference_of_means(Sample{1, 2, 3, 4}, Sample{11, 12, 13, 14}, Samples::runs);
  EXPECT_NEAR(four.error, std::sqrt(10.0 / 6 * (1.0 / 4 + 1.0 / 4)), 1e-12);
  EXPECT_EQ(four.freedom, 6);
  // One new run: variance 5 / 3 with 3 degrees of freedom.
  const MeanChange one = difference_of_means(Sample{1, 2, 3, 4}, Sample{11}, Samples::runs);
  EXPECT_NEAR(one.error, std::sqrt(5.0 / 3 * (1.0 / 4 + 1)), 1e-12);
  EXPECT_EQ(one.freedom, 3);
  const MeanChange level = level_of(Sample{11}, Samples::runs, Sample{1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(level.change, 11);
  EXPECT_NEAR(level.error, std::sqrt(5.0 / 3), 1e-12);
  EXPECT_FALSE(difference_of_means(Sample{1, 2}, Sample{3, 4}, Samples::runs).known());
}

TEST(MeanChange, PValuesAndIntervalsAgree) {
  const MeanChange change = difference_of_means(kSwinging, plus(kSwinging, 5), Samples::steps);
  EXPECT_NEAR(change.p_value(5 + change.margin()), kAlpha, 1e-6);
  EXPECT_NEAR(change.p_value(5 - change.margin()), kAlpha, 1e-6);
  EXPECT_EQ(change.p_value(5), 1);
}

TEST(MeanChange, MoreStepsForLess) {
  const MeanChange change = ratio_of_means(kSwinging, kSwinging, Samples::steps);
  EXPECT_GT(change.wanted(0.002), change.wanted(0.01));
  EXPECT_EQ(change.wanted(1e-9), kMaxWantedSteps);
}

TEST(MeanChange, HolmStepsDown) {
  // Sorted 0.01, 0.02, 0.04: times 3, 2, 1 and never below the previous one.
  EXPECT_EQ(holm(Sample{0.02, 0.01, 0.04}), (Sample{0.04, 0.03, 0.04}));
  EXPECT_EQ(holm(Sample{0.6, 0.7}), (Sample{1, 1}));
}

}  // namespace
}  // namespace stepscope::compare
