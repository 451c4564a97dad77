// Whether one rank is slower than another or has more work.
#include "derive/ranks/kernel_totals.h"

#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope::derive {
namespace {

/// Two steps of 100 µs. Each has `count` gemm kernels with that grid and `length` µs, and an add of `add` µs.
std::string rank_of(int count, const char* grid, int length, int add) {
  std::string events;
  int id = 0;
  const auto kernel = [&](int step, int at, const char* name, const char* shape, int time) {
    ++id;
    events += fmt::format(
        R"J({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {1}, "dur": 0.5, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "kernel", "name": "{2}", "pid": 0, "tid": 7, "ts": {3}, "dur": {4}, "args": {{"device": 0, "stream": 7, "correlation": {0}, "grid": {5}, "block": [64, 1, 1]}}}},
)J",
        id, 100 * step + id % 50, name, 100 * step + at, time, shape);
  };
  for (int step = 0; step < 2; ++step) {
    events += fmt::format(
        R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 5, "tid": 5, "ts": {}, "dur": 100}},)J",
        step, 100 * step);
    for (int i = 0; i < count; ++i) kernel(step, 10 + i * length, "gemm", grid, length);
    kernel(step, 95, "add", "[1, 1, 1]", add);
  }
  return events.substr(0, events.rfind(','));
}

KernelDifference between(const std::string& own, const std::string& other) {
  const trace::Trace trace = test::open_ranks({own, other});
  const auto totals = [&](std::size_t r) { return kernel_totals(trace, trace.ranks[r], {true, true}); };
  return kernel_difference(totals(0), totals(1));
}

const char *kGrid = "[8, 1, 1]", *kLarger = "[16, 1, 1]";

// 3 × 10 + 2 against 3 × 5 + 1 µs per step: every kernel takes twice as long.
TEST(KernelTotals, ASlowDevice) {
  const KernelDifference d = between(rank_of(3, kGrid, 10, 2), rank_of(3, kGrid, 5, 1));
  EXPECT_EQ(d.calls, 4);
  EXPECT_EQ(d.others_calls, 4);
  EXPECT_EQ(d.same, 1);
  EXPECT_EQ(d.pace, 2);
  EXPECT_EQ(d.even, 1);
}

// Only the add (1 of 31 µs) is the same work: the gemms differ in number or in grid.
TEST(KernelTotals, MoreWork) {
  const KernelDifference more = between(rank_of(3, kGrid, 10, 1), rank_of(2, kGrid, 10, 1));
  EXPECT_EQ(more.calls, 4);
  EXPECT_EQ(more.others_calls, 3);
  EXPECT_DOUBLE_EQ(more.same, 1.0 / 31);
  EXPECT_EQ(more.pace, 1);
  EXPECT_DOUBLE_EQ(between(rank_of(3, kLarger, 10, 1), rank_of(3, kGrid, 5, 1)).same, 1.0 / 31);
}

// 20 + 1 against 10 + 1 µs: the ratio is 21/11 in total, and far from that for the add (1 of 21 µs).
TEST(KernelTotals, SomeAreLonger) {
  const KernelDifference d = between(rank_of(2, kGrid, 10, 1), rank_of(2, kGrid, 5, 1));
  EXPECT_EQ(d.same, 1);
  EXPECT_DOUBLE_EQ(d.pace, 21.0 / 11);
  EXPECT_DOUBLE_EQ(d.even, 20.0 / 21);
}

}  // namespace
}  // namespace stepscope::derive
