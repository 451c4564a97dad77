#include "derive/idle/launch_queue.h"

#include "make_rank.h"

namespace stepscope::derive {
namespace {

// Thread 5 launches a and b before a has started, and c after both are done; g is a graph of two kernels.
//   call      [100,104) a   [110,114) b   [300,304) c   [400,440) g
//   stream 7  a [120,150)   b [150,200)   c [306,310)   g1 [410,420) g2 [420,430)
TEST(LaunchQueue, DelayAndDepth) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 100, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 110, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 300, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 5, "tid": 5, "ts": 400, "dur": 40, "args": {"correlation": 4}},
    {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 120, "dur": 30, "args": {"correlation": 1}},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 150, "dur": 50, "args": {"correlation": 2}},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 306, "dur": 4, "args": {"correlation": 3}},
    {"ph": "X", "cat": "kernel", "name": "g1", "pid": 0, "tid": 7, "ts": 410, "dur": 10, "args": {"correlation": 4}},
    {"ph": "X", "cat": "kernel", "name": "g2", "pid": 0, "tid": 7, "ts": 420, "dur": 10, "args": {"correlation": 4}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const LaunchQueue queue = launch_queue(trace, trace.ranks[0]);
  ASSERT_EQ(queue.size(), 5u);
  EXPECT_EQ(queue.delay,
            (Column<std::int64_t>{16'000, 36'000, 2'000, 10'000, 20'000}));  // g from its call's start
  EXPECT_EQ(queue.depth,
            (Column<std::int32_t>{1, 2, 1, 1, 1}));  // b was called while a waited; g counts once
  EXPECT_EQ(queue.blocked, (Column<std::int64_t>{0, 0, 0, 0, 0}));
}

// The first copy call (100 µs) returns 1 µs after its copy ends: it waited. The second returns before its
// copy ends: it did not.
TEST(LaunchQueue, CopiesThatBlock) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 100, "dur": 100, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 300, "dur": 100, "args": {"correlation": 2}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 190, "dur": 9, "args": {"correlation": 1}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 390, "dur": 50, "args": {"correlation": 2}})J");
  ASSERT_EQ(trace.ranks.size(), 1u);
  const LaunchQueue queue = launch_queue(trace, trace.ranks[0]);
  EXPECT_EQ(queue.blocked, (Column<std::int64_t>{100'000, 0}));
  EXPECT_EQ(queue.delay, (Column<std::int64_t>{0, 0}));  // both started before their calls returned
}

}  // namespace
}  // namespace stepscope::derive
