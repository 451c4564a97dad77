#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

// A step with two backward kernels of 100 µs from 100 on and, on another stream, two all-reduces of 4 MB
// among 4 ranks, from 150 to 250 and from 250 to 450.
TEST(Collectives, BySize) {
  const std::string meta =
      R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, "Out msg nelems": 1000000, "Group size": 4)";
  const trace::Trace trace = test::open_events(
      R"J(
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 5, "tid": 5, "ts": 0, "dur": 90},
{"ph": "X", "cat": "cpu_op", "name": "autograd::engine::evaluate_function: MmBackward0", "pid": 5, "tid": 5, "ts": 1, "dur": 60},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 2, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 5, "dur": 2, "args": {"correlation": 2}},
{"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "pid": 5, "tid": 5, "ts": 10, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "nccl:all_reduce", "pid": 5, "tid": 5, "ts": 11, "dur": 15},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 12, "dur": 2, "args": {"correlation": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 40, "dur": 2, "args": {"correlation": 4}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 200, "dur": 100, "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": 0, "tid": 8, "ts": 150, "dur": 100, "args": {"device": 0, "stream": 8, "correlation": 3, )J" +
      meta +
      R"J(}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": 0, "tid": 8, "ts": 250, "dur": 200, "args": {"device": 0, "stream": 8, "correlation": 4, )J" +
      meta + "}}\n");
  const report::Report report = test::answer("collectives", trace);
  const report::Table& sizes = report.tables[0];
  EXPECT_EQ(test::cells(sizes, "collective"), Cells{"all-reduce"});
  EXPECT_EQ(test::cells(sizes, "dtype"), Cells{"Float"});
  EXPECT_EQ(test::cells(sizes, "group_size"), Cells{"4"});
  EXPECT_EQ(test::cells(sizes, "bytes"), Cells{"4000000"});
  EXPECT_EQ(test::cells(sizes, "count"), Cells{"2"});
  EXPECT_EQ(test::cells(sizes, "total"), Cells{"300000"});
  EXPECT_EQ(test::cells(sizes, "exposed"), Cells{"150000"});
  EXPECT_EQ(test::cells(sizes, "min"), Cells{"100000"});
  EXPECT_EQ(test::cells(sizes, "host"), Cells{"22000"});      // 20 µs in c10d::allreduce_, 2 in a bare launch
  EXPECT_EQ(test::cells(sizes, "bus_rate"), Cells{"6e+10"});  // 4 MB × 2 × 3/4 / 100 µs
  const report::Table& reductions = report.tables[1];
  EXPECT_EQ(test::cells(reductions, "step"), Cells{"7"});
  EXPECT_EQ(test::cells(reductions, "backward"), Cells{"200000"});
  EXPECT_EQ(test::cells(reductions, "before_first"), Cells{"50000"});
  EXPECT_EQ(test::cells(reductions, "exposed"), Cells{"150000"});
}

// Without recorded args the kernel's name gives the kind of collective; for send and receive kernels the host
// range does.
TEST(Collectives, ByNames) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "nccl:all_to_all", "pid": 5, "tid": 5, "ts": 1, "dur": 15},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 2, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "pid": 0, "tid": 8, "ts": 100, "dur": 90, "args": {"device": 0, "stream": 8, "correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "pid": 0, "tid": 8, "ts": 200, "dur": 80, "args": {"device": 0, "stream": 8}},
{"ph": "X", "cat": "kernel", "name": "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", "pid": 0, "tid": 8, "ts": 300, "dur": 70, "args": {"device": 0, "stream": 8}}
)J");
  const report::Table table = test::answer("collectives", trace).tables[0];
  EXPECT_EQ(test::cells(table, "collective"), (Cells{"all-to-all", "reduce-scatter", "send/receive"}));
  EXPECT_EQ(test::cells(table, "bytes"), (Cells{"-", "-", "-"}));
}

// An uneven all-to-all: of its 400 floats rank 1 keeps 300. Older recorders write the args to the operator
// only.
TEST(Collectives, WhatStaysIsNotSent) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 5, "tid": 5, "ts": 1, "dur": 9, "args": {"External id": 9, "Collective name": "all_to_allv", "dtype": "Float", "In msg nelems": 400, "Out msg nelems": 320, "Group size": 2, "In split size": "[1, 3]", "Out split size": "[200, 120]", "Rank": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 2, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_SendRecv", "pid": 0, "tid": 8, "ts": 100, "dur": 10, "args": {"device": 0, "stream": 8, "correlation": 1, "External id": 9}}
)J");
  const report::Table table = test::answer("collectives", trace).tables[0];
  EXPECT_EQ(test::cells(table, "collective"), Cells{"uneven all-to-all"});
  EXPECT_EQ(test::cells(table, "bytes"), Cells{"800"});  // rank 1 gives 100 floats and receives 200
  EXPECT_EQ(test::cells(table, "bus_rate"), Cells{"8e+07"});
}

}  // namespace
}  // namespace stepscope
