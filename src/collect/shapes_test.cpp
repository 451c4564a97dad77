#include "collect/torch/shapes.h"

#include <gtest/gtest.h>

namespace stepscope::collect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Ticks are ns here. Tells the windows of signatures that take `share` of the time from 0 to `until`, if all
/// are written and PyTorch's copies are counted.
void spend(ShapeWindows& windows, double share, std::int64_t time) {
  constexpr std::uint64_t kEach = 100;
  const double timed = share * static_cast<double>(time) / ShapeWindows::kWithCopies / ShapeWindows::kTimed;
  for (double spent = 0; spent + kEach <= timed; spent += kEach) windows.timed(kEach);
}

TEST(ShapeWindows, StayOpenWhereShapesAreCheap) {
  ShapeWindows windows;
  windows.begin();
  const auto first = windows.turn(0, 0);
  ASSERT_TRUE(first && first->on);
  for (std::int64_t second = 1; second < 10; ++second) {
    spend(windows, 0.009, kSecond);
    EXPECT_FALSE(windows.turn(static_cast<std::uint64_t>(second * kSecond), second * kSecond));
  }
}

TEST(ShapeWindows, CloseAndOpenAgainWhereShapesAreDear) {
  ShapeWindows windows;
  windows.begin();
  (void)windows.turn(0, 0);
  spend(windows, 0.1, kSecond);
  EXPECT_FALSE(windows.turn(kSecond - 1, kSecond - 1));
  const auto off = windows.turn(kSecond, kSecond);
  ASSERT_TRUE(off && !off->on && off->cost);
  EXPECT_NEAR(*off->cost, 0.1, 0.001);
  // Shapes that cost 10 % are recorded in a tenth of the time, so that they cost 1 %.
  EXPECT_FALSE(windows.turn(0, 9'900'000'000));
  const auto on = windows.turn(10 * kSecond, 10 * kSecond);
  ASSERT_TRUE(on && on->on && !on->cost);
  spend(windows, 0.1, kSecond);
  const auto again = windows.turn(11 * kSecond, 11 * kSecond);
  ASSERT_TRUE(again && !again->on);
  EXPECT_FALSE(again->cost) << "told once";
}

TEST(ShapeWindows, PauseAtMostSoLong) {
  ShapeWindows windows;
  windows.begin();
  (void)windows.turn(0, 0);
  spend(windows, 0.9, kSecond);
  (void)windows.turn(kSecond, kSecond);
  EXPECT_FALSE(windows.turn(0, kSecond + ShapeWindows::kLongest - 1));
  EXPECT_TRUE(windows.turn(0, kSecond + ShapeWindows::kLongest));
}

// A signature that another process interrupted counts as a short one.
TEST(ShapeWindows, InterruptedSignatures) {
  ShapeWindows windows;
  windows.begin();
  (void)windows.turn(0, 0);
  windows.timed(20'000'000);
  EXPECT_FALSE(windows.turn(kSecond, kSecond));
}

TEST(ShapeWindows, NothingTurnsAfterTheEnd) {
  ShapeWindows windows;
  EXPECT_FALSE(windows.turn(0, kSecond));
  windows.begin();
  windows.end();
  EXPECT_FALSE(windows.turn(0, kSecond));
}

}  // namespace
}  // namespace stepscope::collect
