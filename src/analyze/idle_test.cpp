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

}  // namespace
}  // namespace stepscope
