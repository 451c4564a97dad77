#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Main thread 5: steps 1 and 2 of 100 µs, each with a linear of 40. The first linear holds an addmm of 30
// that launches a kernel of 10. Thread 6: a backward function of 50 that launches a kernel of 20.
constexpr const char* kNestedCalls = R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 100, "dur": 100},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 10, "dur": 40},
  {"ph": "X", "cat": "cpu_op", "name": "aten::linear", "pid": 5, "tid": 5, "ts": 110, "dur": 40},
  {"ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 5, "tid": 5, "ts": 15, "dur": 30},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 20, "dur": 5, "args": {"correlation": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: X", "pid": 5, "tid": 6, "ts": 120, "dur": 50},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 6, "ts": 130, "dur": 5, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 60, "dur": 10, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "grad", "pid": 0, "tid": 7, "ts": 160, "dur": 20, "args": {"correlation": 2}})J";

TEST(CallTree, MergedByPathAndThread) {
  const report::Report report = test::answer("call_tree", test::open_events(kNestedCalls));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "name"),
            (Cells{"main thread", "ProfilerStep#*", "aten::linear", "aten::addmm", "cudaLaunchKernel",
                   "backward thread", "autograd::engine::evaluate_function: X", "cudaLaunchKernel"}));
  EXPECT_EQ(cells(table, "depth"), (Cells{"0", "1", "2", "3", "4", "0", "1", "2"}));
  EXPECT_EQ(cells(table, "calls"), (Cells{"1", "2", "2", "1", "1", "1", "1", "1"}));
  EXPECT_EQ(cells(table, "host_total"),
            (Cells{"200000", "200000", "80000", "30000", "5000", "50000", "50000", "5000"}));
  EXPECT_EQ(cells(table, "host_self"),
            (Cells{"0", "120000", "50000", "25000", "5000", "0", "45000", "5000"}));
  EXPECT_EQ(cells(table, "device_total"),
            (Cells{"10000", "10000", "10000", "10000", "0", "20000", "20000", "0"}));
  EXPECT_EQ(cells(table, "device_self"), (Cells{"0", "0", "0", "10000", "0", "0", "20000", "0"}));
}

TEST(CallTree, LimitsAndStep) {
  const trace::Trace trace = test::open_events(kNestedCalls);
  const report::Report shallow = test::answer("call_tree", trace, test::params({{"depth", "2"}}));
  EXPECT_EQ(cells(shallow.tables[0], "depth"), (Cells{"0", "1", "0", "1"}));
  // Host time is 250 and device time 30 µs in all: 3 % hides the launches of 5 µs, which have no device time.
  const report::Report large = test::answer("call_tree", trace, test::params({{"min-share", "3"}}));
  EXPECT_EQ(cells(large.tables[0], "depth"), (Cells{"0", "1", "2", "3", "0", "1"}));
  ASSERT_EQ(large.notes.size(), 1u);
  const report::Report second = test::answer("call_tree", trace, test::params({{"step", "2"}}));
  EXPECT_EQ(cells(second.tables[0], "host_total"),
            (Cells{"100000", "100000", "40000", "50000", "50000", "5000"}));
}

TEST(CallTree, NestingBeyondTheDeepestIsMergedUpwards) {
  std::string events;
  for (int i = 0; i < 1'500; ++i)
    events += R"({"ph": "X", "cat": "cpu_op", "name": "f", "pid": 5, "tid": 5, "ts": )" + std::to_string(i) +
              R"(, "dur": )" + std::to_string(3'000 - i) + "},";
  events.pop_back();
  const report::Report report =
      test::answer("call_tree", test::open_events(events), test::params({{"min-share", "0"}}));
  EXPECT_EQ(report.tables[0].rows(), 1'001u);
  EXPECT_EQ(cells(report.tables[0], "host_total").front(), "3000000");
}

}  // namespace
}  // namespace stepscope
