// Clocks of known offset and drift, read at the ends of simulated collectives, are recovered within the
// reported bounds.
#include "derive/ranks/clock_ends.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stepscope::derive {
namespace {

using timeline::Time;

struct Case {
  std::uint32_t clocks = 64;
  std::vector<std::vector<std::uint32_t>> groups;
  int per_group = 200;
  double jitter_low = 1e3, jitter_high = 20e3;  ///< ns by which an end is read late
  double foreign = 0;                           ///< share of ends that belong to another collective
  std::uint64_t seed = 1;
};

std::vector<std::vector<std::uint32_t>> grid(std::uint32_t side) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < side; ++i) {
    std::vector<std::uint32_t> row, column;
    for (std::uint32_t j = 0; j < side; ++j) row.push_back(i * side + j), column.push_back(j * side + i);
    groups.push_back(row), groups.push_back(column);
  }
  return groups;
}

std::vector<std::vector<std::uint32_t>> chain(std::uint32_t clocks) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t q = 0; q + 1 < clocks; ++q) groups.push_back({q, q + 1});
  return groups;
}

struct Truth {
  std::vector<double> offset, drift;
  std::vector<ClockEnd> ends;
  Time read(std::uint32_t q, double t) const { return kEpoch + std::llround(t + offset[q] + drift[q] * t); }
  static constexpr Time kEpoch = 1'700'000'000'000'000'000;
};

/// 10 s of collectives. Clocks are off by up to 1 s and 50 ppm.
Truth simulate(const Case& c) {
  std::mt19937_64 random(c.seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  Truth truth;
  for (std::uint32_t q = 0; q < c.clocks; ++q)
    truth.offset.push_back(uniform(-1e9, 1e9)), truth.drift.push_back(uniform(-5e-5, 5e-5));
  std::uint32_t instance = 0;
  for (const auto& group : c.groups)
    for (int k = 0; k < c.per_group; ++k, ++instance) {
      const double end = uniform(0, 10e9);
      for (const std::uint32_t q : group) {
        const double seen =
            uniform(0, 1) < c.foreign ? uniform(0, 10e9) : end + uniform(c.jitter_low, c.jitter_high);
        truth.ends.push_back({instance, q, 0, truth.read(q, seen - 1e6), truth.read(q, seen)});
      }
    }
  return truth;
}

struct Errors {
  double worst = 0, most_uncertain = 0;
  int covered = 0, clocks = 0;
};

/// Errors of the maps at the middle of the recording, minus the mean error of all clocks.
Errors errors_of(const Truth& truth, const std::vector<ClockFit>& fits) {
  constexpr double kMiddle = 5e9;
  std::vector<double> errors;
  for (std::uint32_t q = 0; q < fits.size(); ++q)
    errors.push_back(static_cast<double>(fits[q].map(truth.read(q, kMiddle)) - Truth::kEpoch) - kMiddle);
  double mean = 0;
  for (const double e : errors) mean += e / static_cast<double>(errors.size());
  Errors out;
  for (std::size_t q = 0; q < fits.size(); ++q) {
    const double error = std::abs(errors[q] - mean);
    const double bound = fits[q].uncertainty_at(truth.read(static_cast<std::uint32_t>(q), kMiddle));
    out.worst = std::max(out.worst, error);
    out.most_uncertain = std::max(out.most_uncertain, bound);
    out.covered += error <= bound;
    ++out.clocks;
  }
  return out;
}

Errors fitted(const Case& c) {
  const Truth truth = simulate(c);
  return errors_of(truth, fit_clocks(truth.ends, c.clocks));
}

TEST(ClockFit, TwoClocksWithoutNoise) {
  // Clock 1 is 1,000 ns ahead and gains 10 ns per ms.
  std::vector<ClockEnd> ends;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const Time t = Time{i} * 1'000'000'000;
    ends.push_back({i, 0, 0, t - 10, t});
    ends.push_back({i, 1, 0, t - 10, t + 1000 + t / 100'000});
  }
  const std::vector<ClockFit> fits = fit_clocks(ends, 2);
  EXPECT_EQ(fits[0].component, fits[1].component);
  for (const Time t : {0L, 2'000'000'000L, 4'000'000'000L})
    EXPECT_NEAR(static_cast<double>(fits[0].map(t)), static_cast<double>(fits[1].map(t + 1000 + t / 100'000)),
                2);
  EXPECT_EQ(fits[0].used, 5u);
}

TEST(ClockFit, ClocksWithoutACommonCollectiveStayApart) {
  const std::vector<ClockFit> fits =
      fit_clocks({{0, 0, 0, 0, 100}, {0, 1, 0, 0, 300}, {1, 2, 0, 0, 500}, {1, 3, 0, 0, 900}}, 5);
  EXPECT_EQ(fits[0].component, fits[1].component);
  EXPECT_EQ(fits[2].component, fits[3].component);
  EXPECT_NE(fits[0].component, fits[2].component);
  EXPECT_NE(fits[4].component, fits[0].component);
  EXPECT_EQ(fits[0].map(100), fits[1].map(300));
  EXPECT_EQ(fits[4].map(7), 7);
  EXPECT_TRUE(std::isinf(fits[4].uncertainty_middle));
}

TEST(ClockFit, Grid) {
  const Errors e = fitted({.groups = grid(8)});
  EXPECT_LT(e.worst, 5e3);
  EXPECT_LT(e.most_uncertain, 10e3);
  EXPECT_EQ(e.covered, e.clocks);
}

TEST(ClockFit, GridWithFewCollectives) {
  EXPECT_LT(fitted({.groups = grid(8), .per_group = 20}).worst, 10e3);
  EXPECT_LT(fitted({.groups = grid(8), .per_group = 5}).worst, 25e3);
  const Errors two = fitted({.groups = grid(8), .per_group = 2});
  EXPECT_GT(two.most_uncertain, 20e3);
  EXPECT_EQ(two.covered, two.clocks);
}

TEST(ClockFit, ChainOfPairs) {
  const Errors many = fitted({.groups = chain(64)});
  EXPECT_LT(many.worst, 20e3);
  const Errors few = fitted({.groups = chain(64), .per_group = 20});
  EXPECT_GT(few.most_uncertain, 20e3);
  EXPECT_GE(few.covered, few.clocks * 9 / 10);
}

TEST(ClockFit, OnlyLargeMessages) {
  const Errors e = fitted({.groups = grid(8), .jitter_low = -400e3, .jitter_high = 400e3});
  EXPECT_GT(e.most_uncertain, 100e3);
  EXPECT_EQ(e.covered, e.clocks);
}

TEST(ClockFit, EndsOfOtherCollectives) {
  EXPECT_LT(fitted({.groups = grid(8), .foreign = 0.05}).worst, 5e3);
  EXPECT_LT(fitted({.groups = grid(8), .foreign = 0.2}).worst, 5e3);
}

TEST(ClockFit, AQuietKindOutweighsALoudOne) {
  Case c{.groups = grid(8)};
  Truth truth = simulate(c);
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> loud(-400e3, 400e3);
  for (ClockEnd& end : truth.ends)
    if (end.instance % 10 != 0) end.kind = 1, end.end += std::llround(loud(random));
  EXPECT_LT(errors_of(truth, fit_clocks(truth.ends, c.clocks)).worst, 15e3);
}

}  // namespace
}  // namespace stepscope::derive
