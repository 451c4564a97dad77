#include "report/two_samples.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stepscope::report {
namespace {

using Sample = std::vector<double>;

TEST(TwoSamples, MannWhitneyCountsArrangements) {
  // Two of each: six arrangements of a a b b have U = 0, 1, 2, 2, 3, 4.
  const MannWhitney two(2, 2);
  EXPECT_DOUBLE_EQ(two.at_most(-1), 0);
  EXPECT_DOUBLE_EQ(two.at_most(0), 1.0 / 6);
  EXPECT_DOUBLE_EQ(two.at_most(1), 2.0 / 6);
  EXPECT_DOUBLE_EQ(two.at_most(2), 4.0 / 6);
  EXPECT_DOUBLE_EQ(two.at_most(4), 1);
  // Sizes 1 and 3: the single value takes any of four places.
  EXPECT_DOUBLE_EQ(MannWhitney(1, 3).at_most(0), 0.25);
  EXPECT_DOUBLE_EQ(MannWhitney(3, 1).at_most(2), 0.75);
}

TEST(TwoSamples, BoundsAreThoseOfTheTables) {
  // Critical values for 5 %, two-sided, as printed in tables of the test (U ≤ k − 1).
  EXPECT_EQ(MannWhitney(3, 3).bound_at(0.05), 0u);  // 2 / 20 is more than 5 %
  EXPECT_EQ(MannWhitney(4, 4).bound_at(0.05), 1u);  // 2 / 70
  EXPECT_EQ(MannWhitney(5, 5).bound_at(0.05), 3u);
  EXPECT_EQ(MannWhitney(8, 8).bound_at(0.05), 14u);
  EXPECT_EQ(MannWhitney(20, 20).bound_at(0.05), 128u);
}

TEST(TwoSamples, TheApproximationMeetsTheExactOne) {
  const auto exact = static_cast<double>(MannWhitney(100, 100).bound_at(0.05));
  const auto approximate = static_cast<double>(MannWhitney(100, 101).bound_at(0.05));
  EXPECT_NEAR(approximate / exact, 101.0 / 100, 0.005);
}

TEST(TwoSamples, ShiftIsTheMiddleDifference) {
  const Sample a{1, 2, 3, 4}, b{11, 12, 13, 18};
  // Of 16 differences 7 … 17 the 8th and 9th are 10; the outermost bound the interval of 97 %.
  const Shift shift = shift_of(a, b, MannWhitney(4, 4), 0.05);
  EXPECT_DOUBLE_EQ(shift.middle, 10);
  EXPECT_DOUBLE_EQ(shift.low, 7);
  EXPECT_DOUBLE_EQ(shift.high, 17);
  const Shift wide = shift_of(a, b, MannWhitney(4, 4), 0.05, 2);
  EXPECT_DOUBLE_EQ(wide.low, 4);
  EXPECT_DOUBLE_EQ(wide.high, 24);
  EXPECT_FALSE(shift_of(a, b, MannWhitney(4, 4), 0.01).bounded());
}

TEST(TwoSamples, PValuesAndIntervalsAgree) {
  const Sample a{1, 2, 3, 4}, b{11, 12, 13, 18};
  const MannWhitney of(4, 4);
  EXPECT_DOUBLE_EQ(p_value(a, b, of, 0), 2.0 / 70);    // no pair the other way round
  EXPECT_DOUBLE_EQ(p_value(a, b, of, 6.9), 2.0 / 70);  // just outside the interval
  EXPECT_GT(p_value(a, b, of, 7.1), 0.05);             // just inside
  EXPECT_DOUBLE_EQ(p_value(a, a, of, 0), 1);
}

TEST(TwoSamples, NeighboursThatAgreeCountLess) {
  // 1 1 −1 −1 about 0: products 1, −1, 1; squares 4.
  EXPECT_DOUBLE_EQ(lag1_correlation(Sample{1, 1, -1, -1}, {}), 0.25);
  EXPECT_DOUBLE_EQ(lag1_correlation(Sample{1, 1, -1, -1}, Sample{5, 7, 5, 7}), (1 - 3) / 8.0);
  EXPECT_DOUBLE_EQ(lag1_correlation(Sample{3, 3}, Sample{4}), 0);
  EXPECT_DOUBLE_EQ(redundancy(0.5), 3);
  EXPECT_DOUBLE_EQ(redundancy(-0.5), 1);
}

TEST(TwoSamples, HolmStepsDown) {
  // Sorted 0.01, 0.02, 0.04: times 3, 2, 1 and never below the previous one.
  EXPECT_EQ(holm(Sample{0.02, 0.01, 0.04}), (Sample{0.04, 0.03, 0.04}));
  EXPECT_EQ(holm(Sample{0.6, 0.7}), (Sample{1, 1}));
}

/// Over many pairs of log step times with 3 % noise: how often the interval misses the planted shift, and how
/// often it lies above 0.
struct Rates {
  double missed = 0, slower = 0;
};
Rates rates_of(std::size_t n, double planted, int pairs) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.03);
  const MannWhitney distribution(n, n);
  Rates rates;
  for (int i = 0; i < pairs; ++i) {
    Sample a(n), b(n);
    for (double& x : a) x = noise(random);
    for (double& x : b) x = planted + noise(random);
    const double widening = std::sqrt(redundancy(lag1_correlation(a, b)));
    const Shift shift = shift_of(a, b, distribution, 0.05, widening);
    rates.missed += shift.excludes(planted) ? 1.0 / pairs : 0;
    rates.slower += shift.low > 0 ? 1.0 / pairs : 0;
  }
  return rates;
}

TEST(TwoSamples, EqualPairsAreRarelyCalledSlower) {
  for (const std::size_t n : {4u, 8u, 20u}) {
    const Rates rates = rates_of(n, 0, 1000);
    EXPECT_LE(rates.slower, 0.025) << n << " steps a side";
    EXPECT_LE(rates.missed, 0.06) << n << " steps a side";
  }
}

TEST(TwoSamples, TenPercentAreFound) {
  EXPECT_GE(rates_of(8, std::log(1.1), 1000).slower, 0.95);
  EXPECT_LE(rates_of(8, std::log(1.1), 1000).missed, 0.06);
}

}  // namespace
}  // namespace stepscope::report
