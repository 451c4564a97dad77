// Clocks of eight ranks of which one is off: the others stay on one time line.
#include "derive/ranks/clock_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace stepscope::derive {
namespace {

using timeline::Time;

constexpr std::uint32_t kRanks = 8;
constexpr int kCollectives = 200;
constexpr Time kMillisecond = 1'000'000;

/// 200 all-reduces, 10 ms apart. Ranks start up to 1 ms apart, and leave together within 2 µs. `reading(rank,
/// time)` is what a rank's clock shows.
Alignment aligned(const std::function<Time(std::uint32_t, Time)>& reading) {
  std::mt19937 random(7);
  std::uniform_int_distribution<Time> late(0, kMillisecond), noise(0, 2'000);
  GroupNames groups;
  groups.id("0, 1, 2, 3, 4, 5, 6, 7", "0");
  std::vector<std::vector<CollectiveRow>> rows(kRanks);
  for (int i = 0; i < kCollectives; ++i)
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const Time begin = i * 10 * kMillisecond + late(random);
      const Time end = i * 10 * kMillisecond + 2 * kMillisecond + noise(random);
      rows[rank].push_back(
          {0, Exchange::all_reduce, i, 1 << 20, kRanks, 1, reading(rank, begin), reading(rank, end), 0});
    }
  return align_clocks(matched(std::move(groups), std::move(rows)));
}

void expect_others_are_aligned(const Alignment& alignment, std::uint32_t but) {
  for (std::uint32_t rank = 0; rank < kRanks; ++rank)
    if (rank != but) {
      EXPECT_EQ(alignment.clocks[rank].state, ClockState::aligned) << rank;
    }
  EXPECT_EQ(alignment.matches.instances.size(), std::size_t{kCollectives});
  EXPECT_TRUE(alignment.contradicting.empty());
}

TEST(ClockAlignment, ClocksThatAreHoursApart) {
  const Alignment alignment =
      aligned([](std::uint32_t rank, Time t) { return t + rank * 3'600'000 * kMillisecond; });
  expect_others_are_aligned(alignment, kRanks);
}

// The ends of another run lie milliseconds beside those of this one. Rank 0 is where the first guess begins.
TEST(ClockAlignment, ARankOfAnotherRun) {
  for (const std::uint32_t foreign : {0u, 5u}) {
    std::mt19937 random(3);
    std::uniform_int_distribution<Time> elsewhere(0, 8 * kMillisecond);
    Time offset = 0, last = -1;
    const Alignment alignment = aligned([&](std::uint32_t rank, Time t) {
      if (rank != foreign) return t;
      if (const Time number = t / (10 * kMillisecond); number != last)
        last = number, offset = elsewhere(random);
      return t + 3'600'000 * kMillisecond + offset;
    });
    expect_others_are_aligned(alignment, foreign);
    EXPECT_EQ(alignment.clocks[foreign].state, ClockState::apart);
    EXPECT_EQ(alignment.clocks[foreign].why,
              "its collectives do not end with those of the other ranks: it may be of another run");
    EXPECT_EQ(alignment.matches.instances.front().count, kRanks - 1);
  }
}

TEST(ClockAlignment, AClockThatJumps) {
  for (const std::uint32_t jumping : {0u, 3u}) {
    const Alignment alignment = aligned([=](std::uint32_t rank, Time t) {
      return rank == jumping && t > 1'000 * kMillisecond ? t + 30 * kMillisecond : t;
    });
    expect_others_are_aligned(alignment, jumping);
    EXPECT_EQ(alignment.clocks[jumping].state, ClockState::apart);
    EXPECT_EQ(alignment.clocks[jumping].why, "its clock jumps by 30.0 ms, 1.03 s after its first collective");
    EXPECT_TRUE(alignment.clocks[jumping].jumps);
    EXPECT_GT(alignment.clocks[jumping].fit.rejected, 0u);
    EXPECT_EQ(alignment.matches.instances.front().count, kRanks);
  }
}

// Thirteen of 200 collectives come before the jump: too few to spoil the fit.
TEST(ClockAlignment, AClockThatJumpsEarly) {
  const Alignment alignment = aligned([](std::uint32_t rank, Time t) {
    return rank == 3 && t > 125 * kMillisecond ? t + 30 * kMillisecond : t;
  });
  expect_others_are_aligned(alignment, 3);
  EXPECT_EQ(alignment.clocks[3].why, "its clock jumps by 30.0 ms, 0.16 s after its first collective");
}

// Two collectives in the middle are matched wrongly: their ends are 30 ms late on one rank, and no jump.
TEST(ClockAlignment, TwoWrongEndsAreNoJump) {
  const Alignment alignment = aligned([](std::uint32_t rank, Time t) {
    return rank == 3 && t > 1'000 * kMillisecond && t < 1'020 * kMillisecond ? t + 30 * kMillisecond : t;
  });
  EXPECT_EQ(alignment.clocks[3].state, ClockState::aligned) << alignment.clocks[3].why;
  EXPECT_EQ(alignment.clocks[3].fit.rejected + alignment.clocks[3].contradicting, 2u);
}

// 2 s are recorded; rank 3's clock leaves its line by 80 µs in the middle, as if it had become warm and
// cooled down.
TEST(ClockAlignment, AClockThatBendsHasALargerError) {
  const Alignment alignment = aligned([](std::uint32_t rank, Time t) {
    const double u = static_cast<double>(t) / (kCollectives * 10.0 * kMillisecond);
    return rank == 3 ? t + std::llround(80'000 * 4 * u * (1 - u)) : t;
  });
  const ClockFit& bent = alignment.clocks[3].fit;
  double worst = 0;
  for (int i = 0; i < kCollectives; ++i) {
    const Time t = i * 10 * kMillisecond;
    const double u = static_cast<double>(t) / (kCollectives * 10.0 * kMillisecond);
    const Time shown = t + std::llround(80'000 * 4 * u * (1 - u));
    worst = std::max(worst, std::abs(static_cast<double>(bent.map(shown) - alignment.clocks[0].fit.map(t))));
  }
  EXPECT_GT(worst, 20'000);
  EXPECT_GE(bent.uncertainty_edge, worst);
  EXPECT_GT(bent.bend, 0);
  EXPECT_EQ(alignment.clocks[3].state, ClockState::coarse);
  EXPECT_EQ(aligned([](std::uint32_t, Time t) { return t; }).clocks[3].fit.bend, 0);
}

// A run of another time, in which one step was 30 ms shorter, is no jump of the clock.
TEST(ClockAlignment, AnotherTimeIsAnotherRun) {
  const Alignment alignment = aligned([](std::uint32_t rank, Time t) {
    return rank == 3 ? t + 3'600'000 * kMillisecond - (t > 1'000 * kMillisecond ? 30 * kMillisecond : 0) : t;
  });
  expect_others_are_aligned(alignment, 3);
  EXPECT_EQ(alignment.clocks[3].why,
            "its collectives do not end with those of the other ranks: it may be of another run");
}

}  // namespace
}  // namespace stepscope::derive
