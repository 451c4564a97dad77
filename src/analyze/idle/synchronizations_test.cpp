#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Host thread 5, a Python frame train.py over all:
//   item [100,200) with a copy call [110,150) that waits for its copy, and a stream synchronize [150,180)
//   a launch [230,234) of k2
// Device: k1 [90,120), copy [140,145), k2 [240,260).
// Copy call: device idle [145,150) after its copy; its refill ends at once, where the synchronize begins.
// Cost 5. Synchronize: idle throughout, 30; refill [180,240) minus the loader's [190,220): 30. Cost 60.
constexpr const char* kEvents = R"J(
  {"ph": "X", "cat": "python_function", "name": "train.py(12): step", "pid": 5, "tid": 5, "ts": 50, "dur": 400},
  {"ph": "X", "cat": "python_function", "name": "torch/_tensor.py(9): item", "pid": 5, "tid": 5, "ts": 90, "dur": 120},
  {"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": 5, "tid": 5, "ts": 100, "dur": 100},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 110, "dur": 40, "args": {"correlation": 2}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 150, "dur": 30},
  {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "pid": 5, "tid": 6, "ts": 190, "dur": 30},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 230, "dur": 4, "args": {"correlation": 3}},
  {"ph": "X", "cat": "kernel", "name": "k1", "pid": 0, "tid": 7, "ts": 90, "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 1}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 7, "ts": 140, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "k2", "pid": 0, "tid": 7, "ts": 240, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 3}})J";

TEST(Synchronizations, CostIsIdleTimeAndNotWaiting) {
  const report::Report report = test::answer("synchronizations", test::open_events(kEvents));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "call"), (Cells{"cudaStreamSynchronize", "cudaMemcpyAsync"}));
  EXPECT_EQ(cells(table, "op"), (Cells{"aten::item", "aten::item"}));
  EXPECT_EQ(cells(table, "source"), (Cells{"train.py(12): step", "train.py(12): step"}));
  EXPECT_EQ(cells(table, "total"), (Cells{"30000", "40000"}));
  EXPECT_EQ(cells(table, "busy"), (Cells{"0", "15000"}));  // k1 [110,120) and the copy
  EXPECT_EQ(cells(table, "refill"), (Cells{"30000", "0"}));
  EXPECT_EQ(cells(table, "cost"), (Cells{"60000", "5000"}));
}

// A pinned copy whose call does not wait for it, and a synchronize of half a microsecond: neither is a wait.
// The synchronize after the last device work costs its own 10 µs and has no refill.
TEST(Synchronizations, WhatDoesNotWait) {
  const report::Report report = test::answer("synchronizations", test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 100, "dur": 10, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 120, "dur": 0.5},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 5, "tid": 5, "ts": 200, "dur": 10},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 115, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1}})J"));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "call"), (Cells{"cudaDeviceSynchronize"}));
  EXPECT_EQ(cells(table, "cost"), (Cells{"10000"}));
  EXPECT_EQ(cells(table, "refill"), (Cells{"0"}));
  EXPECT_EQ(cells(table, "source"), (Cells{"-"}));
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("with_stack"), std::string::npos);
}

// Without device rows the cost of a wait is unknown.
TEST(Synchronizations, NoDevice) {
  const report::Report report = test::answer("synchronizations", test::open_events(R"J(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 5, "tid": 5, "ts": 200, "dur": 10})J"));
  EXPECT_EQ(cells(report.tables[0], "total"), (Cells{"10000"}));
  EXPECT_EQ(cells(report.tables[0], "cost"), (Cells{"-"}));
}

}  // namespace
}  // namespace stepscope
