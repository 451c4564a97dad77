#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Steps [0, 3000), [3000, 4000) and [4000, 5000) µs inside one Python frame. The first has an op of 2800; a
// copy on another thread lasts 50 in the first step and 250 in the second.
constexpr const char* kSlowFirstStep = R"J(
  {"ph": "X", "cat": "python_function", "name": "train.py(1): <module>", "pid": 5, "tid": 5, "ts": 0, "dur": 5000},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 3000},
  {"ph": "X", "cat": "cpu_op", "name": "load", "pid": 5, "tid": 5, "ts": 100, "dur": 2800},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 3000, "dur": 1000},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 5, "ts": 4000, "dur": 1000},
  {"ph": "X", "cat": "cpu_op", "name": "copy", "pid": 5, "tid": 6, "ts": 2950, "dur": 300})J";

TEST(Steps, AnOutlierIsExplainedByWhatRanInsideIt) {
  const report::Report report = test::answer("steps", test::open_events(kSlowFirstStep));
  const report::Table& table = report.tables[2];
  EXPECT_EQ(cells(table, "step"), (Cells{"1", "1", "1", "1"}));
  EXPECT_EQ(cells(table, "lane"), (Cells{"step", "step", "host", "host"}));
  EXPECT_EQ(cells(table, "what"), (Cells{"total", "cpu_exec", "load", "copy"}));
  EXPECT_EQ(cells(table, "time"), (Cells{"3000000", "3000000", "2800000", "50000"}));
  EXPECT_EQ(cells(table, "median_step_time"), (Cells{"1000000", "1000000", "0", "0"}));
  const trace::Trace trace = test::open_events(kSlowFirstStep);
  EXPECT_EQ(test::answer("steps", trace, test::params({{"step", "1"}})).tables[2].rows(), 4u);
  EXPECT_EQ(test::answer("steps", trace, test::params({{"step", "2"}})).tables[2].rows(), 0u);
}

// A step of 100 µs: a compute kernel from 10 to 30, a collective from 20 to 60, a copy from 50 to 80.
TEST(Steps, CommunicationAndCopiesAreThoseThatDevicesCallsExposed) {
  const trace::Trace trace = test::open_events(R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 20, "args": {"device": 0, "stream": 7}},
  {"ph": "X", "cat": "kernel", "name": "ncclKernel", "pid": 0, "tid": 8, "ts": 20, "dur": 40, "args": {"device": 0, "stream": 8}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "m", "pid": 0, "tid": 9, "ts": 50, "dur": 30, "args": {"device": 0, "stream": 9}})J");
  const report::Report steps = test::answer("steps", trace), devices = test::answer("devices", trace);
  EXPECT_EQ(cells(steps.tables[0], "kernel"), Cells{"20000"});
  EXPECT_EQ(cells(steps.tables[0], "communication"), Cells{"30000"});
  EXPECT_EQ(cells(steps.tables[0], "memcpy"), Cells{"20000"});
  EXPECT_EQ(cells(devices.tables[0], "exposed_communication"), Cells{"0.3"});
  EXPECT_EQ(cells(devices.tables[0], "exposed_copy"), Cells{"0.2"});
}

// A step of 1000 µs: an op from 0 to 300 and, on another thread, a collective on the CPU from 100 to 700.
TEST(Steps, ACollectiveOnTheCpuIsCommunication) {
  const report::Report report = test::answer("steps", test::open_events(R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 1000},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 0, "dur": 300},
  {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 5, "tid": 6, "ts": 100, "dur": 600})J"));
  EXPECT_EQ(cells(report.tables[0], "communication"), Cells{"600000"});
  EXPECT_EQ(cells(report.tables[0], "cpu_exec"), Cells{"100000"});
  EXPECT_EQ(cells(report.tables[0], "other"), Cells{"300000"});
}

// Steps of 10, 20, 30 and 41 µs.
TEST(Overview, TheMedianStepIsOneOfThem) {
  const report::Report report = test::answer("overview", test::open_events(R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 30},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 30, "dur": 10},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 5, "ts": 40, "dur": 41},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 5, "tid": 5, "ts": 81, "dur": 20})J"));
  const Cells facts = cells(report.tables[1], "fact"), times = cells(report.tables[1], "time");
  const auto time = [&](const char* fact) {
    return times[static_cast<std::size_t>(std::find(facts.begin(), facts.end(), fact) - facts.begin())];
  };
  EXPECT_EQ(time("step_median"), "20000");
  EXPECT_EQ(time("step_shortest"), "10000");
  EXPECT_EQ(time("step_longest"), "41000");
  EXPECT_EQ(time("first_step"), "30000");
}

TEST(Overview, WithoutDeviceEventsDeviceTimesAreEmpty) {
  const report::Report report = test::answer("overview", test::open_events(kSlowFirstStep));
  const Cells facts = cells(report.tables[1], "fact"), times = cells(report.tables[1], "time");
  for (const char* fact :
       {"compute", "communication", "exposed_communication", "exposed_copy", "busy", "idle"}) {
    const auto found = std::find(facts.begin(), facts.end(), fact);
    ASSERT_NE(found, facts.end()) << fact;
    EXPECT_EQ(times[static_cast<std::size_t>(found - facts.begin())], "-") << fact;
  }
  EXPECT_EQ(times.front(), "5000000");
}

}  // namespace
}  // namespace stepscope
