// A simulated slow rank is found, and its slow part; equal ranks give none.
#include "derive/ranks/stragglers.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "derive/ranks/step_parts.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using Parts = std::vector<std::vector<PartsOfStep>>;

Time& at(PartsOfStep& step, StepPart part) { return step[static_cast<std::size_t>(part)]; }

/// Steps of about 100 ms: compute 70 (0.5 % between ranks, 0.6 % between steps), host 12 (6 %), input 3
/// (30 %), copy 2, pending 1. Ranks wait for the slowest, so all ranks take equally long for a step.
struct SlowJob {
  std::size_t ranks = 64, steps = 10;
  std::uint64_t seed = 1;
  std::size_t slow = SIZE_MAX;  ///< rank; SIZE_MAX: none
  StepPart part = StepPart::input;
  Time more = 0;  ///< ns in every step, or in `only`
  std::size_t only = SIZE_MAX;
};

Parts simulate_slow(const SlowJob& job) {
  std::mt19937_64 random(job.seed);
  const auto around = [&](double ms, double share) {
    return static_cast<Time>(1e6 * std::max(0.0, std::normal_distribution<double>(ms, share * ms)(random)));
  };
  Parts parts(job.ranks, std::vector<PartsOfStep>(job.steps));
  for (std::size_t r = 0; r < job.ranks; ++r) {
    const double own = static_cast<double>(around(70, 0.005)) / 1e6;
    for (std::size_t k = 0; k < job.steps; ++k) {
      PartsOfStep& step = parts[r][k];
      at(step, StepPart::compute) = around(own, 0.006);
      at(step, StepPart::host) = around(12, 0.06);
      at(step, StepPart::input) = around(3, 0.3);
      at(step, StepPart::copy) = around(2, 0.02);
      at(step, StepPart::pending) = around(1, 0.1);
      at(step, StepPart::transfer) = around(10, 0.01);
      if (r == job.slow && (job.only == SIZE_MAX || k == job.only)) at(step, job.part) += job.more;
    }
  }
  for (std::size_t k = 0; k < job.steps; ++k) {
    Time longest = 0;
    for (auto& rank : parts)
      longest = std::max(longest, std::accumulate(rank[k].begin(), rank[k].end(), Time{0}));
    for (auto& rank : parts)
      at(rank[k], StepPart::wait) = longest - std::accumulate(rank[k].begin(), rank[k].end(), Time{0});
  }
  return parts;
}

TEST(Stragglers, EveryPartOfFiftySeeds) {
  std::size_t others = 0;  // ranks that became 2 % slower by chance
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    for (const StepPart part : {StepPart::compute, StepPart::copy, StepPart::input, StepPart::alloc,
                                StepPart::sync, StepPart::host, StepPart::python}) {
      const std::size_t slow = seed % 64;
      const auto answer =
          find_stragglers(simulate_slow({.seed = seed, .slow = slow, .part = part, .more = 10'000'000}));
      ASSERT_FALSE(answer.stragglers.empty()) << "seed " << seed << " " << name_of(part);
      others += answer.stragglers.size() - 1;
      EXPECT_EQ(answer.stragglers[0].rank, slow);
      EXPECT_TRUE(answer.stragglers[0].persistent);
      EXPECT_EQ(answer.stragglers[0].part, part);
      EXPECT_NEAR(static_cast<double>(answer.stragglers[0].excess), 10e6, 2e6);
    }
  EXPECT_LE(others, 2u) << "of 350 jobs of 64 ranks";
}

TEST(Stragglers, EqualRanksGiveNoName) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    EXPECT_TRUE(find_stragglers(simulate_slow({.seed = seed})).stragglers.empty()) << "seed " << seed;
}

TEST(Stragglers, OneStep) {
  const auto answer =
      find_stragglers(simulate_slow({.slow = 7, .part = StepPart::python, .more = 30'000'000, .only = 4}));
  ASSERT_EQ(answer.stragglers.size(), 1u);
  EXPECT_FALSE(answer.stragglers[0].persistent);
  EXPECT_EQ(answer.stragglers[0].rank, 7u);
  EXPECT_EQ(answer.stragglers[0].step, 4u);
  EXPECT_EQ(answer.stragglers[0].part, StepPart::python);
}

// Rank 3 shows 30 ms of idle time in step 2 that no other rank waited for: its clock was set, or it had the
// time.
TEST(Stragglers, AStepThatIsLongOnOneRankAloneIsNotSlow) {
  Parts parts(8, std::vector<PartsOfStep>(6));
  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t k = 0; k < 6; ++k) {
      at(parts[r][k], StepPart::compute) = 10'000'000;
      at(parts[r][k], StepPart::pending) = r == 3 && k == 2 ? 30'000'000 : 0;
    }
  EXPECT_TRUE(find_stragglers(parts).stragglers.empty());
  for (std::size_t r = 0; r < 8; ++r) at(parts[r][2], StepPart::wait) = r == 3 ? 0 : 30'000'000;
  ASSERT_EQ(find_stragglers(parts).stragglers.size(), 1u);
  EXPECT_EQ(find_stragglers(parts).stragglers[0].rank, 3u);
}

// Own work is 100 ms per step; rank 2 has 20 more and rank 3 has 50 more. Without rank 3's excess, rank 2's
// 20 remain, so 30 ms are gained.
TEST(Stragglers, CostEndsAtTheNextSlowest) {
  Parts parts(8, std::vector<PartsOfStep>(5));
  for (std::size_t r = 0; r < 8; ++r)
    for (PartsOfStep& step : parts[r]) {
      at(step, StepPart::compute) = 100'000'000;
      at(step, StepPart::input) = r == 2 ? 20'000'000 : r == 3 ? 50'000'000 : 0;
      at(step, StepPart::wait) = 50'000'000 - at(step, StepPart::input);
    }
  const auto answer = find_stragglers(parts);
  ASSERT_EQ(answer.stragglers.size(), 2u);
  EXPECT_EQ(answer.stragglers[0].rank, 3u);
  EXPECT_EQ(answer.stragglers[0].excess, 50'000'000);
  EXPECT_EQ(answer.stragglers[0].cost, 30'000'000);
}

// Ranks 4 to 7 of 8 load 2 ms longer than the others, as on a slow host: the median lies between the two
// groups.
TEST(Stragglers, HalfOfTheRanks) {
  Parts parts = simulate_slow({.ranks = 8, .steps = 12, .seed = 3});
  for (std::size_t r = 4; r < 8; ++r)
    for (PartsOfStep& step : parts[r]) at(step, StepPart::input) += 20'000'000;
  const auto answer = find_stragglers(parts);
  ASSERT_EQ(answer.stragglers.size(), 4u);
  for (const Straggler& s : answer.stragglers) {
    EXPECT_GE(s.rank, 4u);
    EXPECT_EQ(s.part, StepPart::input);
    EXPECT_NEAR(static_cast<double>(s.excess), 20e6, 3e6);
    EXPECT_LT(s.cost, 5'000'000);  // the other three are as late
  }
  EXPECT_NEAR(static_cast<double>(answer.cost_together), 20e6, 3e6);
}

TEST(Stragglers, EqualRanksMakeNoGroups) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    EXPECT_LT(find_stragglers(simulate_slow({.ranks = 8, .seed = seed})).stragglers.size(), 2u)
        << "seed " << seed;
}

// Both have 30 more: mending one of them gains nothing.
TEST(Stragglers, TwoEquallySlowRanksCostTogetherWhatOneAloneDoesNot) {
  Parts parts(8, std::vector<PartsOfStep>(5));
  for (std::size_t r = 0; r < 8; ++r)
    for (PartsOfStep& step : parts[r]) {
      at(step, StepPart::compute) = r == 1 ? 130'000'000 : 100'000'000;
      at(step, StepPart::input) = r == 4 ? 30'000'000 : 0;
    }
  const auto answer = find_stragglers(parts);
  ASSERT_EQ(answer.stragglers.size(), 2u);
  EXPECT_EQ(answer.stragglers[0].cost, 0);
  EXPECT_EQ(answer.stragglers[1].cost, 0);
  EXPECT_EQ(answer.cost_together, 30'000'000);
}

TEST(Stragglers, TwoRanksOrRaggedStepsGiveNoAnswer) {
  EXPECT_TRUE(find_stragglers(Parts(2, std::vector<PartsOfStep>(5))).beyond_median.empty());
  Parts ragged(3, std::vector<PartsOfStep>(5));
  ragged[1].pop_back();
  EXPECT_TRUE(find_stragglers(ragged).beyond_median.empty());
  EXPECT_TRUE(find_stragglers({}).beyond_median.empty());
}

// Steps [0, 100) and [100, 160). Compute 0 to 30 and 90 to 110; a collective 20 to 60 that waits until 40; a
// copy 60 to 70. Idle 70 to 90 for data, 110 to 130 in a blocking call, 130 to 160 pending.
TEST(StepParts, AddUpToTheStep) {
  DeviceBusy device;
  device.compute = timeline::IntervalSet::of({{0, 30}, {90, 110}});
  device.communication = timeline::IntervalSet::of({{20, 60}});
  device.copy = timeline::IntervalSet::of({{60, 70}});
  Column<IdlePiece> pieces;
  pieces.push_back({{70, 90}, IdleCause::input, 0, 0});
  pieces.push_back({{110, 130}, IdleCause::sync, 0, 0});
  pieces.push_back({{130, 160}, IdleCause::pending, 0, 0});
  const std::vector<timeline::Interval> spans = {{0, 100}, {100, 160}};
  auto [steps, communication] = step_parts(device, pieces, spans);
  tell_waits(steps, communication, timeline::IntervalSet::of({{20, 40}}), spans);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(at(steps[0], StepPart::compute), 40);
  EXPECT_EQ(at(steps[0], StepPart::wait), 10);
  EXPECT_EQ(at(steps[0], StepPart::transfer), 20);
  EXPECT_EQ(at(steps[0], StepPart::copy), 10);
  EXPECT_EQ(at(steps[0], StepPart::input), 20);
  EXPECT_EQ(at(steps[1], StepPart::compute), 10);
  EXPECT_EQ(at(steps[1], StepPart::sync), 20);
  EXPECT_EQ(at(steps[1], StepPart::pending), 30);
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_EQ(std::accumulate(steps[k].begin(), steps[k].end(), Time{0}), k == 0 ? 100 : 60);
}

}  // namespace
}  // namespace stepscope::derive
