#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

constexpr const char* kOp = R"J(
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 0, "dur": 30})J";

TEST(Operators, WithoutDeviceEventsDeviceTimesAreEmpty) {
  const report::Report report = test::answer("operators", test::open_events(kOp));
  EXPECT_EQ(cells(report.tables[0], "device_self"), Cells{"-"});
  EXPECT_EQ(cells(report.tables[0], "device_total"), Cells{"-"});
  EXPECT_EQ(cells(report.tables[0], "host_self"), Cells{"30000"});
}

TEST(Operators, AnOpThatLaunchesNothingHasNoDeviceTime) {
  const report::Report report = test::answer("operators", test::open_events(std::string(kOp) + R"J(,
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 10, "args": {"device": 0, "stream": 7}})J"));
  EXPECT_EQ(cells(report.tables[0], "device_self"), Cells{"0"});
}

}  // namespace
}  // namespace stepscope
