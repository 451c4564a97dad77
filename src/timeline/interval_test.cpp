// Compares the algebra with a bitmap, one bool per unit of time, which is obviously right.
#include "timeline/interval.h"

#include <gtest/gtest.h>

#include <bitset>
#include <numeric>
#include <random>

namespace stepscope::timeline {
namespace {

constexpr Time kSpan = 64;
using Bits = std::bitset<kSpan>;

Bits bits_of(const Column<Interval>& any) {
  Bits bits;
  for (const Interval& i : any)
    for (Time t = i.begin; t < i.end; ++t) bits.set(static_cast<std::size_t>(t));
  return bits;
}

Bits bits_of(const IntervalSet& set) { return bits_of({set.parts().begin(), set.parts().end()}); }

void expect_well_formed(const IntervalSet& set) {
  const auto parts = set.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LT(parts[i].begin, parts[i].end);
    if (i > 0) {
      EXPECT_LT(parts[i - 1].end, parts[i].begin) << "parts touch or overlap";
    }
  }
}

Column<Interval> random_intervals(std::mt19937& random) {
  Column<Interval> any(random() % 9);
  for (Interval& i : any) {
    i.begin = static_cast<Time>(random() % kSpan);
    i.end =
        std::min<Time>(kSpan, i.begin + static_cast<Time>(random() % 12) - 2);  // some empty, some inverted
    i.end = std::max<Time>(0, i.end);
  }
  return any;
}

TEST(Interval, LengthIsNeverNegative) {
  EXPECT_EQ((Interval{3, 7}).length(), 4);
  EXPECT_EQ((Interval{3, 3}).length(), 0);
  EXPECT_EQ((Interval{7, 3}).length(), 0);
}

TEST(Interval, EndIsOutside) {
  EXPECT_TRUE((Interval{3, 7}).contains(3));
  EXPECT_FALSE((Interval{3, 7}).contains(7));
  EXPECT_FALSE((Interval{3, 3}).contains(3));
}

TEST(Interval, OverlapOfTouchingEndsIsNothing) {
  EXPECT_EQ(overlap({0, 5}, {5, 9}), 0);
  EXPECT_EQ(overlap({0, 6}, {5, 9}), 1);
  EXPECT_EQ(overlap({0, 9}, {2, 4}), 2);
  EXPECT_EQ(overlap({0, 1}, {8, 9}), 0);
}

TEST(IntervalSet, DropsEmptyAndJoinsTouching) {
  const IntervalSet set = IntervalSet::of({{5, 8}, {9, 9}, {1, 3}, {3, 5}, {12, 10}});
  ASSERT_EQ(set.parts().size(), 1u);
  EXPECT_EQ(set.parts()[0], (Interval{1, 8}));
  EXPECT_TRUE(IntervalSet::of({{4, 4}}).empty());
}

TEST(IntervalSet, KeepsNegativeTimes) {
  const IntervalSet set = IntervalSet::of({{-5, -2}, {-2, 1}});
  EXPECT_EQ(set.length(), 6);
  EXPECT_TRUE(set.contains(-5));
  EXPECT_FALSE(set.contains(1));
}

TEST(IntervalSet, GapsOfNothingIsTheWindow) {
  EXPECT_EQ(IntervalSet().gaps({2, 6}), IntervalSet::of({{2, 6}}));
  EXPECT_TRUE(IntervalSet().gaps({6, 2}).empty());
  EXPECT_TRUE(IntervalSet::of({{0, 9}}).gaps({2, 6}).empty());
}

TEST(IntervalSet, AgreesWithBitmap) {
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    const auto any_a = random_intervals(random), any_b = random_intervals(random);
    const IntervalSet a = IntervalSet::of(any_a), b = IntervalSet::of(any_b);
    const Bits x = bits_of(any_a), y = bits_of(any_b);
    EXPECT_EQ(bits_of(a), x);
    EXPECT_EQ(bits_of(unite(a, b)), x | y);
    EXPECT_EQ(bits_of(intersect(a, b)), x & y);
    EXPECT_EQ(bits_of(subtract(a, b)), x & ~y);
    EXPECT_EQ(a.length(), static_cast<Time>(x.count()));
    for (const IntervalSet& set : {a, unite(a, b), intersect(a, b), subtract(a, b)}) expect_well_formed(set);
    const auto from = static_cast<Time>(random() % kSpan);
    const Interval window{from, from + static_cast<Time>(random() % static_cast<unsigned>(kSpan - from + 1))};
    const Bits inside = bits_of({window});
    EXPECT_EQ(bits_of(a.within(window)), x & inside);
    EXPECT_EQ(bits_of(a.gaps(window)), inside & ~x);
    EXPECT_EQ(a.length_in(window), static_cast<Time>((x & inside).count()));
    expect_well_formed(a.within(window));
    expect_well_formed(a.gaps(window));
    EXPECT_EQ(MeasuredSet(a).length_in(window), a.length_in(window));
    EXPECT_EQ(a.contains(from), x[static_cast<std::size_t>(from)]);
    if (HasFailure()) return;
  }
}

TEST(IntervalSet, AShortAndALongSet) {
  std::mt19937 random(4);
  Column<Interval> many;
  for (Time t = 0; t < 3000; t += 3) many.push_back({t, t + 2});
  const IntervalSet long_set = IntervalSet::of(many);
  for (int round = 0; round < 200; ++round) {
    Column<Interval> few, common, rest;
    for (int i = 0; i < 3; ++i) {
      const auto from = static_cast<Time>(random() % 3100);
      few.push_back({from, from + static_cast<Time>(random() % 9)});
      for (Time t = from; t < few.back().end; ++t)
        (t < 3000 && t % 3 != 2 ? common : rest).push_back({t, t + 1});
    }
    const IntervalSet short_set = IntervalSet::of(few);
    ASSERT_EQ(intersect(short_set, long_set), IntervalSet::of(common));
    ASSERT_EQ(intersect(long_set, short_set), IntervalSet::of(common));
    ASSERT_EQ(subtract(short_set, long_set), IntervalSet::of(rest));
    ASSERT_EQ(subtract(long_set, short_set).length(), long_set.length() - IntervalSet::of(common).length());
  }
}

// A window over nearly all of a million parts, a million times: walking through the parts would take an
// hour.
TEST(MeasuredSet, CostsTheSameHoweverMuchIsInTheWindow) {
  Column<Interval> many;
  for (Time t = 0; t < 3'000'000; t += 3) many.push_back({t, t + 2});
  const MeasuredSet set(IntervalSet::of(std::move(many)));
  Time sum = 0;
  for (int i = 0; i < 1'000'000; ++i) sum += set.length_in({1, 2'999'998});
  EXPECT_EQ(sum, Time{1'000'000} * (2'000'000 - 2));
}

TEST(Partition, GivesEachInstantToTheFirstSetThatCoversIt) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const std::vector<IntervalSet> sets = {IntervalSet::of(random_intervals(random)),
                                           IntervalSet::of(random_intervals(random)),
                                           IntervalSet::of(random_intervals(random))};
    const Interval window{5, 50};
    const std::vector<IntervalSet> shares = partition(window, sets);
    ASSERT_EQ(shares.size(), sets.size() + 1);
    Bits left = bits_of({window});
    Time sum = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const Bits expected = i < sets.size() ? left & bits_of(sets[i]) : left;
      ASSERT_EQ(bits_of(shares[i]), expected);
      left &= ~expected;
      sum += shares[i].length();
    }
    ASSERT_EQ(sum, window.length());
  }
}

TEST(SumLevels, AgreesWithAddingUpEachInstant) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    const Column<Interval> any = random_intervals(random);
    std::vector<double> weights, expected(kSpan), seen(kSpan);
    for (const Interval& i : any) {
      weights.push_back(static_cast<double>(random() % 5));  // small whole numbers add without rounding
      for (Time t = i.begin; t < i.end; ++t) expected[static_cast<std::size_t>(t)] += weights.back();
    }
    Time previous = -1;
    for (const Level& level : sum_levels(any, weights)) {
      ASSERT_GT(level.span.length(), 0);
      ASSERT_GE(level.span.begin, previous);
      previous = level.span.end;
      for (Time t = level.span.begin; t < level.span.end; ++t)
        seen[static_cast<std::size_t>(t)] = level.value;
    }
    ASSERT_EQ(seen, expected);
  }
}

TEST(SumLevels, LeavesNoRoundingBehind) {
  const Column<Interval> any = {{0, 10}, {2, 4}, {3, 8}, {20, 30}};
  const std::vector<double> weights = {0.1, 0.2, 0.7, 0.3};
  std::vector<double> in_gap;
  for (const Level& level : sum_levels(any, weights))
    if (level.span.begin >= 10 && level.span.end <= 20) in_gap.push_back(level.value);
  EXPECT_EQ(in_gap, std::vector<double>{0.0});
}

TEST(BinnedShare, OfAWindowThatDoesNotDivideEvenly) {
  const std::vector<double> shares = binned_share(IntervalSet::of({{0, 5}}), {0, 10}, 3);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_DOUBLE_EQ(shares[0], 1.0);        // [0, 3)
  EXPECT_DOUBLE_EQ(shares[1], 2.0 / 3.0);  // [3, 6)
  EXPECT_DOUBLE_EQ(shares[2], 0.0);        // [6, 10)
  EXPECT_EQ(binned_share(IntervalSet(), {4, 4}, 2), (std::vector<double>{0, 0}));
}

TEST(BinnedShare, DoesNotOverflowOnLongWindows) {
  constexpr Time kLong = 4'000'000'000'000'000'000;
  const std::vector<double> shares = binned_share(IntervalSet::of({{-kLong, 0}}), {-kLong, kLong}, 1000);
  EXPECT_DOUBLE_EQ(shares[499], 1.0);
  EXPECT_DOUBLE_EQ(shares[500], 0.0);
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 500.0);
}

}  // namespace
}  // namespace stepscope::timeline
