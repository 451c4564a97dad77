#include "compare/gate.h"

#include <gtest/gtest.h>

namespace stepscope::compare {
namespace {

using Sample = std::vector<double>;

const Sample kBase = {100, 102, 99, 101, 98, 100, 102, 99};

Sample times(double factor, std::size_t count = 8) {
  Sample out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(kBase[i] * factor);
  return out;
}

Limit limit(const char* text) {
  auto parsed = parse_limit(text);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? *parsed : Limit{};
}

Check decided(const char* text, const Sample& now, const Sample& base = kBase, double allow_noise = 0) {
  return decide({limit(text)}, {{base, now, "", report::Unit::ns}}, allow_noise).front();
}

TEST(Gate, LimitsAreRead) {
  const Limit total = limit("step.total>5%");
  EXPECT_EQ(total.analysis + "/" + total.column, "step/total");
  EXPECT_TRUE(total.above && total.relative);
  EXPECT_DOUBLE_EQ(total.bound, 0.05);
  const Limit kernel = limit("kernels.total[void f<int>(a[3])] > 1.5 ms");
  EXPECT_EQ(kernel.key, "void f<int>(a[3])");
  EXPECT_DOUBLE_EQ(kernel.bound, 1.5e6);
  EXPECT_FALSE(kernel.relative);
  EXPECT_FALSE(limit("devices.utilization<-5%").above);
  EXPECT_DOUBLE_EQ(limit("copies.bytes[x]>2 MiB").bound, 2097152);
  for (const char* wrong : {"", "step.total", "step>5%", "step.total>", "step.total>5 parsec", "step.tota>5%",
                            "nothing.total>5%", "step.total>nan%", "step.total>-100%"})
    EXPECT_FALSE(parse_limit(wrong).ok()) << wrong;
}

TEST(Gate, PassRegressionAndBetween) {
  EXPECT_EQ(decided("step.total>5%", times(0.8)).outcome, Outcome::pass);
  EXPECT_EQ(decided("step.total>5%", times(1.0)).outcome, Outcome::pass);
  EXPECT_EQ(decided("step.total>5%", times(1.2)).outcome, Outcome::regression);
  const Check between = decided("step.total>5%", times(1.05));
  EXPECT_EQ(between.outcome, Outcome::inconclusive);
  EXPECT_NE(between.reason.find("the interval spans the limit"), std::string::npos);
  EXPECT_EQ(decided("step.total>5%", times(1.05), kBase, 0.05).outcome, Outcome::pass);
  EXPECT_EQ(decided("step.total<-5%", times(0.8)).outcome, Outcome::regression);
}

TEST(Gate, TooFewStepsSayHowMany) {
  const Check few = decided("step.total>5%", times(2, 3), times(1, 3));
  EXPECT_EQ(few.outcome, Outcome::inconclusive);
  EXPECT_NE(few.reason.find("too few steps to know the noise; record"), std::string::npos);
  const Sample trend = {100, 101, 102, 103, 104, 105, 106, 107};  // each is like its neighbour
  EXPECT_EQ(decided("step.total>5%", trend, trend).outcome, Outcome::inconclusive);
}

TEST(Gate, MoreStepsShrinkTheInterval) {
  // 10 % with 3 % noise each way: undecided at 4 steps, and the number of steps it asks for is finite.
  const Check check = decided("step.total>5%", {113, 106, 112, 104}, {100, 103, 97, 101});
  EXPECT_EQ(check.outcome, Outcome::inconclusive);
  EXPECT_NE(check.reason.find("per side would decide"), std::string::npos);
}

TEST(Gate, LevelsHaveLimitsToo) {
  EXPECT_EQ(decided("step.total>105ns", times(1)).outcome, Outcome::pass);
  EXPECT_EQ(decided("step.total>95ns", times(1)).outcome, Outcome::regression);
  EXPECT_EQ(decided("step.total>100ns", times(1)).outcome, Outcome::inconclusive);
  EXPECT_EQ(decided("step.total>95ns", times(1, 3)).outcome, Outcome::inconclusive);
}

TEST(Gate, SeveralLimitsAreSeveralChancesToErr) {
  // The mean lies 0.95 above the limit, 2.513 standard errors of √(1 / 7), with 7 degrees of freedom: p =
  // 0.0402.
  const Sample now = {99.95, 101.95, 99.95, 101.95, 99.95, 101.95, 99.95, 101.95};
  const Measured measured{kBase, now, "", report::Unit::ns};
  EXPECT_EQ(decide({limit("step.total>100ns")}, {measured}, 0)[0].outcome, Outcome::regression);
  const std::vector<Check> two =
      decide({limit("step.total>100ns"), limit("step.kernel>100ns")}, {measured, measured}, 0);
  EXPECT_NEAR(two[0].p, 0.0402, 1e-4);
  EXPECT_NEAR(two[0].corrected, 2 * two[0].p, 1e-12);
  EXPECT_EQ(two[0].outcome, Outcome::inconclusive);
}

TEST(Gate, WhatIsNotThereIsNotPassed) {
  const Measured nothing{{}, {}, "BASE: no row 'x'.", report::Unit::ns};
  const std::vector<Check> checks = decide({limit("step.total>5%")}, {nothing}, 0);
  EXPECT_EQ(checks[0].outcome, Outcome::inconclusive);
  EXPECT_EQ(checks[0].reason, "BASE: no row 'x'.");
  EXPECT_EQ(decided("step.data_loader>5%", times(1), times(0)).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace stepscope::compare
