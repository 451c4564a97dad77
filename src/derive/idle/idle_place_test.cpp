#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Two steps of 100 µs. Each has a load of 20, then an op of 30, then an empty Python frame of 10, then a
// launch at 70 inside an op that starts at 65. The kernel runs for 20 µs.
constexpr const char* kTwoSteps = R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#x.__next__", "pid": 5, "tid": 5, "ts": 5, "dur": 20},
  {"ph": "X", "cat": "cpu_op", "name": "augment", "pid": 5, "tid": 5, "ts": 25, "dur": 30},
  {"ph": "X", "cat": "python_function", "name": "train.py(3): f", "pid": 5, "tid": 5, "ts": 55, "dur": 10},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 65, "dur": 10},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 70, "dur": 2, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 75, "dur": 20, "args": {"device": 0, "stream": 7, "correlation": 1}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 100, "dur": 100},
  {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#x.__next__", "pid": 5, "tid": 5, "ts": 105, "dur": 20},
  {"ph": "X", "cat": "cpu_op", "name": "augment", "pid": 5, "tid": 5, "ts": 125, "dur": 30},
  {"ph": "X", "cat": "python_function", "name": "train.py(3): f", "pid": 5, "tid": 5, "ts": 155, "dur": 10},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 165, "dur": 10},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 170, "dur": 2, "args": {"correlation": 2}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 175, "dur": 25, "args": {"device": 0, "stream": 7, "correlation": 2}})J";

// In the first gap [0, 75) and the second [95, 175): 5 and 10 µs before the load, 20 of the load in each, 30
// of the op in each, 10 of the frame and 5 of the launching op. The last 5 µs of each are pending.
TEST(IdlePlace, WhatWasOpenAndWhere) {
  const report::Report report = test::answer("idle", test::open_events(kTwoSteps));
  const report::Table& table = report.tables[3];
  EXPECT_EQ(cells(table, "place"),
            (Cells{"augment", "enumerate(DataLoader)#x.__next__", "enumerate(DataLoader)#x.__next__",
                   "train.py(3): f", "-", "-", "aten::mm", "aten::mm"}));
  EXPECT_EQ(cells(table, "where"), (Cells{"after loading", "in a step", "between steps", "after loading",
                                          "between steps", "in a step", "in a step", "between steps"}));
  EXPECT_EQ(cells(table, "time"),
            (Cells{"60000", "20000", "20000", "20000", "10000", "5000", "5000", "5000"}));
}

}  // namespace
}  // namespace stepscope
