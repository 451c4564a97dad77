#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

// Two aten::mm of one size, the second in two kernels, and an aten::bmm. FLOP rate of mm: 2 × 100 × 200 × 300
// FLOPs in (10 + 20) / 2 µs.
TEST(Products, BySizes) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 1, "dur": 5, "args": {"External id": 1, "Input Dims": [[100, 300], [300, 200]], "Input type": ["c10::Half", "c10::Half"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 11, "dur": 5, "args": {"External id": 2, "Input Dims": [[100, 300], [300, 200]], "Input type": ["c10::Half", "c10::Half"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::bmm", "pid": 5, "tid": 5, "ts": 21, "dur": 5, "args": {"External id": 3, "Input Dims": [[8, 16, 32], [8, 32, 64]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 5, "tid": 5, "ts": 31, "dur": 5, "args": {"External id": 4}},
{"ph": "X", "cat": "kernel", "name": "h16816_gemm", "pid": 0, "tid": 7, "ts": 100, "dur": 10, "args": {"External id": 1, "device": 0, "stream": 7, "blocks per SM": 0.5}},
{"ph": "X", "cat": "kernel", "name": "h16816_gemm", "pid": 0, "tid": 7, "ts": 110, "dur": 15, "args": {"External id": 2, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "splitKreduce", "pid": 0, "tid": 7, "ts": 125, "dur": 5, "args": {"External id": 2, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "volta_sgemm_32x32", "pid": 0, "tid": 7, "ts": 130, "dur": 4, "args": {"External id": 3, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 134, "dur": 6, "args": {"External id": 4, "device": 0, "stream": 7}}
)J");
  const report::Table table = test::answer("products", trace).tables[0];
  EXPECT_EQ(test::cells(table, "op"), (Cells{"aten::mm", "aten::bmm"}));
  EXPECT_EQ(test::cells(table, "dtype"), (Cells{"fp16", "fp32"}));
  EXPECT_EQ(test::cells(table, "batch"), (Cells{"1", "8"}));
  EXPECT_EQ(test::cells(table, "m"), (Cells{"100", "16"}));
  EXPECT_EQ(test::cells(table, "n"), (Cells{"200", "64"}));
  EXPECT_EQ(test::cells(table, "k"), (Cells{"300", "32"}));
  EXPECT_EQ(test::cells(table, "calls"), (Cells{"2", "1"}));
  EXPECT_EQ(test::cells(table, "time"), (Cells{"30000", "4000"}));
  EXPECT_EQ(test::cells(table, "share"), (Cells{"0.75", "0.1"}));
  EXPECT_EQ(test::cells(table, "flop_rate"), (Cells{"8e+11", "1.31072e+11"}));
  EXPECT_EQ(test::cells(table, "share_of_roof"), (Cells{"-", "-"}));  // the device is not named
  EXPECT_EQ(test::cells(table, "matrix_unit_share"), (Cells{"0.833333", "0"}));
  EXPECT_EQ(test::cells(table, "plain_core_share"), (Cells{"0", "1"}));
  EXPECT_EQ(test::cells(table, "small_grid_share"), (Cells{"0.333333", "0"}));
}

}  // namespace
}  // namespace stepscope
