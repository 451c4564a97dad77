#include "derive/repeated_ops.h"

#include "make_program.h"

namespace stepscope::derive {
namespace {

/// Operators of 1 µs, one after another. Capital letters are autograd's nodes.
std::vector<RepeatedOps> runs_of(std::string_view letters) {
  test::EventText events;
  int at = 0;
  events.add("user_annotation", "loop", 5, 5, 0, 10 * static_cast<int>(letters.size()));
  for (const char letter : letters) {
    const std::string node = letter < 'a' ? "autograd::engine::evaluate_function: " : "";
    events.add("cpu_op", node + letter, 5, 5, at, 1);
    at += 2;
  }
  const trace::Trace trace = test::open_events(events.text());
  return repeated_ops(trace, trace.ranks[0]);
}

std::string repeated(std::string_view unit, int times) {
  std::string text;
  for (; times > 0; --times) text += unit;
  return text;
}

TEST(RepeatedOps, TheShortestUnitOfTenRounds) {
  for (const std::string unit : {"a", "ab", "aab", "abcdefgh"}) {
    const auto runs = runs_of("xy" + repeated(unit, 10) + "z");
    ASSERT_EQ(runs.size(), 1u) << unit;
    EXPECT_EQ(runs[0].unit, unit.size());
    EXPECT_EQ(runs[0].times, 10);
    EXPECT_EQ(runs_of("xy" + repeated(unit, 9) + "z").size(), 0u) << unit;
  }
}

TEST(RepeatedOps, LongerUnitsAndNodesAreNone) {
  EXPECT_EQ(runs_of(repeated("abcdefghi", 20)).size(), 0u);
  EXPECT_EQ(runs_of(repeated("A", 20)).size(), 0u);
  EXPECT_EQ(runs_of(repeated("Aab", 20)).size(), 0u);
}

TEST(RepeatedOps, EachRunOnce) {
  const auto runs = runs_of(repeated("a", 12) + "x" + repeated("bc", 11));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].times, 12);
  EXPECT_EQ(runs[1].unit, 2u);
  EXPECT_EQ(runs[1].times, 11);
}

}  // namespace
}  // namespace stepscope::derive
