#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

/// One launch call from 0 to `returns` µs, its kernel from 2000 to 2100 µs.
trace::Trace late_kernel(int returns) {
  return test::open_events(R"J(
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": )J" +
                           std::to_string(returns) + R"J(, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2000, "dur": 100,
   "args": {"device": 0, "stream": 7, "correlation": 1}})J");
}

Cells totals(int returns) { return cells(test::answer("idle", late_kernel(returns)).tables[1], "time"); }

// idle_late, idle_pending, pending_long
TEST(Idle, ALaunchCallThatTakesLongIsNoMissingRecord) {
  EXPECT_EQ(totals(10), (Cells{"0", "2000000", "1990000"}));
  EXPECT_EQ(totals(1500), (Cells{"0", "2000000", "500000"}));
  EXPECT_EQ(totals(1501), (Cells{"0", "2000000", "0"}));
  EXPECT_EQ(totals(2050), (Cells{"0", "2000000", "0"}));
}

// The device waits 30, 50 and 10 µs while aten::mm runs, called from three source lines. The place has the
// line of the longest wait.
TEST(Idle, APlaceHasTheLineOfItsLongestPart) {
  const report::Report report = test::answer("idle", test::open_events(R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 200},
  {"ph": "X", "cat": "python_function", "name": "train.py(1): a", "pid": 5, "tid": 5, "ts": 0, "dur": 40, "args": {"Python id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 5, "dur": 30},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 36, "dur": 1, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 38, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 1}},
  {"ph": "X", "cat": "python_function", "name": "train.py(2): b", "pid": 5, "tid": 5, "ts": 50, "dur": 60, "args": {"Python id": 2}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 52, "dur": 50},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 103, "dur": 1, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 105, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 2}},
  {"ph": "X", "cat": "python_function", "name": "train.py(3): c", "pid": 5, "tid": 5, "ts": 120, "dur": 30, "args": {"Python id": 3}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 122, "dur": 10},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 133, "dur": 1, "args": {"correlation": 3}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 135, "dur": 10, "args": {"device": 0, "stream": 7, "correlation": 3}})J"));
  const auto places = std::find_if(report.tables.begin(), report.tables.end(),
                                   [](const report::Table& t) { return t.title == "Idle time by place"; });
  ASSERT_NE(places, report.tables.end());
  const Cells names = cells(*places, "place");
  const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), "aten::mm") - names.begin());
  ASSERT_LT(at, names.size());
  EXPECT_EQ(cells(*places, "count")[at], "3");
  EXPECT_EQ(cells(*places, "time")[at], "90000");
  EXPECT_EQ(cells(*places, "longest")[at], "50000");
  EXPECT_EQ(cells(*places, "source")[at], "train.py(2): b");
}

}  // namespace
}  // namespace stepscope
