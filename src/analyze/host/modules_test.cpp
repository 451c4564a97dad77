#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Net_0 [0,100) calls Linear_0 [10,50), which runs aten::linear (sequence 7) and launches a kernel of 30.
// Net_0 itself launches a kernel of 5. On the backward thread, the function of sequence 7 launches a kernel
// of 60, and another function launches a kernel of 2 that belongs to no module. Linear_0 runs again there
// (recomputation) for 20 and launches a kernel of 8.
constexpr const char* kModuleCalls = R"J(
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 5, "tid": 5, "ts": 10, "dur": 40},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 15, "dur": 30, "args": {"External id": 1, "Sequence number": 7, "Fwd thread id": 0}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 60, "dur": 10, "args": {"External id": 2}},
  {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: L", "pid": 5, "tid": 6, "ts": 110, "dur": 20, "args": {"External id": 3, "Sequence number": 7, "Fwd thread id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: R", "pid": 5, "tid": 6, "ts": 140, "dur": 30, "args": {"External id": 4, "Sequence number": 3, "Fwd thread id": 1}},
  {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 5, "tid": 6, "ts": 145, "dur": 20},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 6, "ts": 150, "dur": 5, "args": {"External id": 5}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 200, "dur": 30, "args": {"External id": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 230, "dur": 5, "args": {"External id": 2}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 240, "dur": 60, "args": {"External id": 3}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 300, "dur": 2, "args": {"External id": 4}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 310, "dur": 8, "args": {"External id": 5}})J";

TEST(Modules, ForwardBackwardAndRecomputation) {
  const report::Report report = test::answer("modules", test::open_events(kModuleCalls));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "module"), (Cells{"Net_0", "Linear_0"}));
  EXPECT_EQ(cells(table, "class"), (Cells{"Net", "Linear"}));
  EXPECT_EQ(cells(table, "depth"), (Cells{"0", "1"}));
  EXPECT_EQ(cells(table, "calls"), (Cells{"1", "2"}));
  EXPECT_EQ(cells(table, "host_self"), (Cells{"60000", "60000"}));  // 100 − 40; 40 + 20
  EXPECT_EQ(cells(table, "host_total"), (Cells{"120000", "60000"}));
  EXPECT_EQ(cells(table, "device_self"), (Cells{"5000", "38000"}));  // 30 + 8 run again
  EXPECT_EQ(cells(table, "device_total"), (Cells{"43000", "38000"}));
  EXPECT_EQ(cells(table, "backward_device_self"), (Cells{"0", "60000"}));
  EXPECT_EQ(cells(table, "backward_device"), (Cells{"60000", "60000"}));
  EXPECT_EQ(cells(table, "device_share"), (Cells{"0.980952", "0.933333"}));  // 103 and 98 of 105
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("1.9 %"), std::string::npos);  // 2 of 105
}

TEST(Modules, FromModuleHierarchy) {
  const report::Report report = test::answer("modules", test::open_events(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 0, "dur": 30, "args": {"Module Hierarchy": "top(a.Net)::forward.fc(a.Linear)::forward"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 40, "dur": 10, "args": {"Module Hierarchy": "top(a.Net)::forward"}})J"));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "module"), (Cells{"top(a.Net)", "fc(a.Linear)"}));
  EXPECT_EQ(cells(table, "class"), (Cells{"a.Net", "a.Linear"}));
  EXPECT_EQ(cells(table, "host_total"), (Cells{"40000", "30000"}));
  EXPECT_EQ(cells(table, "calls"), (Cells{"-", "-"}));
  EXPECT_EQ(cells(table, "device_total"), (Cells{"-", "-"}));
}

TEST(Modules, NothingRecorded) {
  const report::Report report = test::answer(
      "modules",
      test::open_events(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5})"));
  EXPECT_EQ(report.tables[0].rows(), 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("with_stack"), std::string::npos);
}

TEST(PythonStacks, FoldsFrames) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "python_function", "name": "a.py(1): main", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "python_function", "name": "a.py(5): f;g", "pid": 5, "tid": 5, "ts": 10, "dur": 30},
    {"ph": "X", "cat": "python_function", "name": "a.py(5): f;g", "pid": 5, "tid": 5, "ts": 50, "dur": 20},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 52, "dur": 10, "args": {"External id": 1}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 200, "dur": 30, "args": {"External id": 1}})J");
  const report::Report host = test::answer("python_stacks", trace);
  EXPECT_EQ(cells(host.tables[0], "stack"),
            (Cells{"a.py(1): main", "a.py(1): main;a.py(5): f:g"}));  // equal times: by text
  EXPECT_EQ(cells(host.tables[0], "time"), (Cells{"50000", "50000"}));
  const report::Report device = test::answer("python_stacks", trace, test::params({{"metric", "device"}}));
  EXPECT_EQ(cells(device.tables[0], "stack"), (Cells{"a.py(1): main;a.py(5): f:g"}));
  EXPECT_EQ(cells(device.tables[0], "time"), (Cells{"30000"}));
}

// Recorded stacks are innermost first. An inner op with the same stack counts in the outer op's time.
TEST(PythonStacks, FromCallStackArg) {
  const report::Report report = test::answer("python_stacks", test::open_events(R"J(
    {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 0, "dur": 50, "args": {"Call stack": "m.py(3): forward;t.py(9): main"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 10, "dur": 20, "args": {"Call stack": "m.py(3): forward;t.py(9): main"}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 60, "dur": 5, "args": {"Call stack": "t.py(9): main"}})J"));
  EXPECT_EQ(cells(report.tables[0], "stack"), (Cells{"t.py(9): main;m.py(3): forward", "t.py(9): main"}));
  EXPECT_EQ(cells(report.tables[0], "time"), (Cells{"50000", "5000"}));
}

}  // namespace
}  // namespace stepscope
