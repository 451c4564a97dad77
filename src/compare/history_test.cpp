#include "compare/history.h"

#include <gtest/gtest.h>

#include "compare/program_for_test.h"
#include "make_rank.h"

namespace stepscope::compare {
namespace {

const std::vector<Limit> kLimits = {*parse_limit("step.total>5%")};

using HistoryRun = Run;  // a test has a function Run

/// A run whose step takes `time` ms; its events differ from those of every other.
Run run(int at, double time, const std::string& device = "X100") {
  Run out{"run" + std::to_string(at), at * 1'000'000'000LL, Subject{1, true}, {}};
  out.subject.devices = device;
  out.subject.events = static_cast<std::uint64_t>(at) + 1;
  out.metrics.push_back({{time * 1e6}, ""});
  return out;
}

std::vector<Run> runs(const std::vector<double>& times) {
  std::vector<Run> out;
  for (std::size_t i = 0; i < times.size(); ++i) out.push_back(run(static_cast<int>(i), times[i]));
  return out;
}

Gate decided(const std::vector<double>& times) { return gate_history(runs(times), false, kLimits, 0); }

TEST(History, TheNewestAgainstTheOthers) {
  EXPECT_EQ(decided({100, 101, 99, 100, 101, 99, 100}).outcome(), Outcome::pass);
  EXPECT_EQ(decided({100, 101, 99, 100, 101, 99, 120}).outcome(), Outcome::regression);
  EXPECT_EQ(decided({100, 101, 99, 100, 101, 99, 105}).outcome(), Outcome::inconclusive);
  // One run against six: 100 ± 1, variance 4 / 5; the error is √(4 / 5 × 7 / 6) % with 5 degrees of freedom.
  const Check check = decided({100, 101, 99, 100, 101, 99, 103}).checks[0];
  EXPECT_NEAR(check.change, 0.03, 1e-9);
  EXPECT_NEAR(check.means.freedom, 5, 1e-9);
  EXPECT_EQ(check.samples_base, 6u);
}

TEST(History, BaseBeginsAtTheLastChange) {
  const Gate gate = decided({120, 121, 119, 120, 121, 100, 101, 99, 100, 101, 100});
  EXPECT_EQ(gate.outcome(), Outcome::pass);
  EXPECT_EQ(gate.checks[0].samples_base, 5u);
  ASSERT_EQ(gate.trends[0].changes, std::vector<std::size_t>{5});
  EXPECT_NEAR(gate.trends[0].mean(0, 5), 120.2e6, 1);
  const auto said = [&](const char* words) {
    return std::any_of(gate.notes.begin(), gate.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(said("step.total changed at run5 (1970-01-01 00:00:05): 120 ms → 100 ms, -16.7 %."));
}

TEST(History, RunsAreOrderedByTime) {
  std::vector<HistoryRun> mixed = runs({100, 101, 99, 100, 120});
  std::swap(mixed[0], mixed[4]);  // the slow run is the newest, wherever it stands
  EXPECT_EQ(gate_history(mixed, false, kLimits, 0).outcome(), Outcome::regression);
  std::swap(mixed[0], mixed[4]);
  mixed.push_back(run(-5, 100));  // given as NEW, though it is the oldest
  const Gate gate = gate_history(mixed, true, kLimits, 0);
  EXPECT_EQ(gate.trends[0].points.back().run, "run-5");
}

TEST(History, WhatDoesNotCompareIsLeftOut) {
  std::vector<HistoryRun> some = runs({100, 101, 99, 100, 101, 99, 100});
  some.insert(some.begin(), run(-3, 500, "Y200"));
  HistoryRun copy = some.back();
  copy.start -= 1;
  some.insert(some.begin(), copy);
  const Gate gate = gate_history(some, false, kLimits, 0);
  EXPECT_EQ(gate.outcome(), Outcome::pass);
  EXPECT_EQ(gate.checks[0].samples_base, 6u);
  const auto left_out = std::count_if(gate.notes.begin(), gate.notes.end(), [](const std::string& note) {
    return note.find("is left out of the history") != std::string::npos;
  });
  EXPECT_EQ(left_out, 2);
  std::vector<HistoryRun> other = runs({100, 101, 99, 100, 101});
  other.push_back(run(9, 100, "Y200"));
  EXPECT_EQ(gate_history(other, false, kLimits, 0).outcome(), Outcome::inconclusive);
}

TEST(History, TooShortStillShowsItsValues) {
  const Check check = decided({100, 102, 110}).checks[0];
  EXPECT_EQ(check.outcome, Outcome::inconclusive);
  EXPECT_DOUBLE_EQ(check.base, 101e6);
  EXPECT_DOUBLE_EQ(check.now, 110e6);
}

TEST(History, TooShortDecidesNothing) {
  const Gate gate = decided({100, 101, 120});
  EXPECT_EQ(gate.outcome(), Outcome::inconclusive);
  EXPECT_NE(gate.checks[0].reason.find("record 4 or more"), std::string::npos);
}

TEST(History, ARunIsTheMedianOfItsSteps) {
  const trace::Trace trace = test::open_events(test_program({{"aten::mm", "gemm", 100}}, 9));
  const HistoryRun of = run_of("a.json", trace, kLimits, {});
  ASSERT_EQ(of.metrics[0].values.size(), 1u);
  EXPECT_NEAR(of.metrics[0].values[0], 110'000, 1);  // 10 µs before the kernel, and 100 µs in most steps
}

}  // namespace
}  // namespace stepscope::compare
