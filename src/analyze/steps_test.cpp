#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Steps [0, 3000), [3000, 4000) and [4000, 5000) µs inside one Python frame. In the first, an op of 2800; a
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
