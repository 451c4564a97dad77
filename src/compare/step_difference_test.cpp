#include "compare/step_difference.h"

#include <gtest/gtest.h>

#include "compare/diff.h"
#include "compare/leaves.h"
#include "compare/program_for_test.h"
#include "make_rank.h"

namespace stepscope::compare {
namespace {

using Kernels = std::vector<TestKernel>;

const Kernels kBefore = {{"aten::mm", "gemm", 100}, {"aten::relu", "relu", 40}, {"aten::add", "add", 20}};

StepDifference compared(const trace::Trace& a, const trace::Trace& b) {
  Pair pair = recordings_of(a, b, {});
  diff(a, b, pair);
  return step_difference(pair.a, pair.b);
}

StepDifference compared(const Kernels& a, const Kernels& b, int steps = 9) {
  return compared(test::open_events(test_program(a, steps)), test::open_events(test_program(b, steps)));
}

void expect_adds_up(const StepDifference& difference) {
  double a = 0, b = 0;
  for (const Row& row : difference.rows) {
    a += row.time.a;
    b += row.time.b;
  }
  EXPECT_NEAR(a, difference.step.means.mean_a, 1);
  EXPECT_NEAR(b, difference.step.means.mean_b, 1);
}

std::vector<const Row*> beyond_noise(const StepDifference& difference) {
  std::vector<const Row*> rows;
  for (const Row& row : difference.rows)
    if (row.time.state != State::within_noise) rows.push_back(&row);
  return rows;
}

TEST(StepDifference, OneSlowerKernelIsExactlyItsRow) {
  Kernels slower = kBefore;
  slower[0].length = 110;
  const StepDifference difference = compared(kBefore, slower);
  const std::vector<const Row*> rows = beyond_noise(difference);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]->kernel, "gemm");
  EXPECT_EQ(rows[0]->op, "aten::mm");
  EXPECT_EQ(rows[0]->time.state, State::changed);
  // Nine steps, four of them 1 % longer: 100.444 and 110.489 µs.
  EXPECT_NEAR(rows[0]->time.a, 100'444, 1);
  EXPECT_NEAR(rows[0]->time.b, 110'489, 1);
  expect_adds_up(difference);
  EXPECT_TRUE(difference.step.changed());
  EXPECT_NEAR(difference.step.ratio, 180.0 / 170, 0.001);
}

TEST(StepDifference, ARecordingEqualsItself) {
  const StepDifference difference = compared(kBefore, kBefore);
  EXPECT_TRUE(beyond_noise(difference).empty());
  for (const Row& row : difference.rows) EXPECT_EQ(row.change(), 0) << row.kernel;
  EXPECT_EQ(difference.step.ratio, 1);
  EXPECT_NE(headline(difference).find("B is as fast as A within noise"), std::string::npos);
}

TEST(StepDifference, OneRecordingOnBothSidesIsSaid) {
  const std::string events = test_program(kBefore, 9);
  const trace::Trace a = test::open_events(events), again = test::open_events(events),
                     other = test::open_events(test_program(kBefore, 10));
  Pair pair = recordings_of(a, again, {});
  EXPECT_EQ(headline(diff(a, again, pair)).find("A and B are the same recording"), 0u);
  Pair longer = recordings_of(a, other, {});
  EXPECT_FALSE(diff(a, other, longer).same);
}

TEST(StepDifference, OneFigureForOneChange) {
  Kernels slower = kBefore;
  slower[0].length = 140;
  const StepDifference difference = compared(kBefore, slower);
  const Part& step = difference.parts.front();
  EXPECT_EQ(step.name, "step");
  EXPECT_DOUBLE_EQ(step.time.b / step.time.a, difference.step.ratio);
  EXPECT_DOUBLE_EQ(step.time.low / step.time.a + 1, difference.step.low);
  const report::Table verdict = as_report(difference).tables.front();
  const auto cell = [&](std::string_view name) { return std::stod(test::cells(verdict, name)[0]); };
  EXPECT_NEAR(cell("step_b") / cell("step_a"), difference.step.ratio, 1e-4);
  EXPECT_NEAR(cell("ratio"), difference.step.ratio, 1e-4);
}

/// Two samples of made steps, with what is said of them.
std::string said(const std::vector<double>& a, const std::vector<double>& b) {
  Recording of_a, of_b;
  of_a.step = a;
  of_b.step = b;
  return headline(step_difference(of_a, of_b));
}

TEST(StepDifference, NothingIsSaidBeforeItIsKnown) {
  const std::vector<double> quiet = {99, 101, 99, 101, 99, 101, 99, 101, 99, 101};
  EXPECT_EQ(said(quiet, quiet).find("B is as fast as A within noise; a change of 1.6 % would have been seen"),
            0u)
      << said(quiet, quiet);
  const std::vector<double> loud = {80, 120, 80, 120, 80, 120, 80, 120, 80, 120};
  EXPECT_EQ(said(loud, loud).find("Cannot tell whether B is faster or slower: only a change of 3"), 0u)
      << said(loud, loud);
  EXPECT_NE(said(loud, loud).find("record "), std::string::npos);
  const std::vector<double> trend = {100, 101, 102, 103, 104, 105, 106, 107};
  EXPECT_EQ(said(trend, quiet).find("Cannot tell"), 0u) << said(trend, quiet);
  EXPECT_EQ(said({100, 100}, {130, 130}).find("Cannot tell whether B is faster or slower: too few steps"),
            0u);
}

TEST(StepDifference, WhatComesAndWhatGoes) {
  Kernels other = kBefore;
  other[2] = {"aten::mul", "mul", 30};
  const StepDifference difference = compared(kBefore, other);
  std::vector<const Row*> rows = beyond_noise(difference);
  std::erase_if(rows, [](const Row* row) { return row->calls_a + row->calls_b == 0; });  // rows of the host
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]->kernel, "mul");
  EXPECT_EQ(rows[0]->time.state, State::appeared);
  EXPECT_EQ(rows[1]->kernel, "add");
  EXPECT_EQ(rows[1]->time.state, State::gone);
  expect_adds_up(difference);
}

TEST(StepDifference, FewStepsKnowNoNoise) {
  Kernels slower = kBefore;
  slower[0].length = 150;
  const StepDifference difference = compared(kBefore, slower, 3);
  EXPECT_FALSE(difference.step.known());
  ASSERT_EQ(beyond_noise(difference).size(), 1u);
  EXPECT_EQ(beyond_noise(difference)[0]->time.state, State::unknown_noise);
  EXPECT_NE(headline(difference).find("too few"), std::string::npos);
}

TEST(StepDifference, NoStepMarksIsOneStep) {
  const char* events = R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 0, "dur": 5,
    "args": {"device": 0, "stream": 7}})";
  const trace::Trace trace = test::open_events(events);
  Pair pair = recordings_of(trace, trace, {});
  const std::vector<std::string> notes = diff(trace, trace, pair).notes;
  ASSERT_FALSE(notes.empty());
  EXPECT_NE(notes[0].find("noise cannot be known"), std::string::npos);
}

/// Share of a side's device time in rows that are matched, but not as `moved` or by `module`.
double matched(const StepDifference& difference, bool of_a) {
  double all = 0, found = 0;
  for (const Row& row : difference.rows) {
    if (row.calls_a + row.calls_b == 0) continue;
    const double time = of_a ? row.time.a : row.time.b;
    all += time;
    if (row.match.way != Way::none && row.match.way != Way::moved && row.match.way != Way::module)
      found += time;
  }
  return all > 0 ? found / all : 0;
}

void expect_one_model(const trace::Trace& a, const trace::Trace& b) {
  const StepDifference difference = compared(a, b);
  EXPECT_GE(matched(difference, true), 0.9);
  EXPECT_GE(matched(difference, false), 0.9);
  expect_adds_up(difference);
  expect_adds_up(compared(a, a));
  EXPECT_TRUE(beyond_noise(compared(a, a)).empty());
}

// The recordings have different kernel names: one uses matrix units, one does not.
TEST(StepDifference, TwoPrecisionsOfOneModel) {
  const std::string root = STEPSCOPE_ROOT "/test/data/generated_";
  const std::string path_a[] = {root + "2021_workers.json.gz"}, path_b[] = {root + "fp32.json.gz"};
  const auto a = read::open(path_a), b = read::open(path_b);
  ASSERT_TRUE(a && b);
  expect_one_model(*a, *b);
}

TEST(StepDifference, TwoDevicesThatRunOneModel) {
  const std::string root = STEPSCOPE_ROOT "/../shared/traces/diff_pair/";
  const std::string path_a[] = {root + "a100"}, path_b[] = {root + "v100"};
  const auto a = read::open(path_a), b = read::open(path_b);
  if (!a || !b) GTEST_SKIP() << "no recorded traces in " << root;
  expect_one_model(*a, *b);
}

}  // namespace
}  // namespace stepscope::compare
