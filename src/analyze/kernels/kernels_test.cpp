#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Three gemms of 1, 2 and 5 µs and one relu of 12 µs, launched by aten::mm and aten::relu; a copy of 4,000
// bytes in 2 µs, one of unknown size in 1 µs, and a fill.
constexpr const char* kEvents = R"(
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 100, "dur": 50, "args": {"External id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 9, "tid": 9, "ts": 160, "dur": 50, "args": {"External id": 2}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200, "dur": 1,
   "args": {"External id": 1, "device": 0, "stream": 7, "grid": [1,  1, 1], "block": [64, 1, 1], "registers per thread": 32, "shared memory": 0, "blocks per SM": 2.0, "est. achieved occupancy %": 10}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 210, "dur": 2,
   "args": {"External id": 1, "device": 0, "stream": 7, "grid": [1,  1, 1], "block": [64, 1, 1], "registers per thread": 32, "shared memory": 0, "blocks per SM": 5.0, "est. achieved occupancy %": 40}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 220, "dur": 5,
   "args": {"External id": 1, "device": 0, "stream": 7, "grid": [2, 1, 1], "block": [64, 1, 1], "registers per thread": 32, "shared memory": 8}},
  {"ph": "X", "cat": "kernel", "name": "relu", "pid": 0, "tid": 7, "ts": 230, "dur": 12, "args": {"External id": 2, "device": 0, "stream": 7}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 250, "dur": 2, "args": {"device": 0, "stream": 7, "bytes": 4000}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 255, "dur": 1, "args": {"device": 0, "stream": 7}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 7, "ts": 260, "dur": 1, "args": {"device": 0, "stream": 7, "bytes": 8}})";

TEST(Kernels, ByName) {
  const report::Report report = test::answer("kernels", test::open_events(kEvents));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "name"), (Cells{"relu", "gemm"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"1", "3"}));
  EXPECT_EQ(cells(table, "total"), (Cells{"12000", "8000"}));
  EXPECT_EQ(cells(table, "share"), (Cells{"0.6", "0.4"}));
  EXPECT_EQ(cells(table, "mean"), (Cells{"12000", "2667"}));  // 8000 / 3
  EXPECT_EQ(cells(table, "p50"), (Cells{"12000", "2000"}));
  EXPECT_EQ(cells(table, "p95"), (Cells{"12000", "5000"}));
  EXPECT_EQ(cells(table, "min"), (Cells{"12000", "1000"}));
  EXPECT_EQ(cells(table, "max"), (Cells{"12000", "5000"}));
  EXPECT_EQ(cells(table, "blocks_per_sm"),
            (Cells{"-", "4"}));                               // (1·2 + 2·5) / 3: the third gemm records none
  EXPECT_EQ(cells(table, "occupancy"), (Cells{"-", "0.3"}));  // (1·0.1 + 2·0.4) / 3
}

TEST(Kernels, ByProperties) {
  const report::Report report =
      test::answer("kernels", test::open_events(kEvents), test::params({{"group", "properties"}}));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(cells(table, "name"), (Cells{"relu", "gemm", "gemm"}));
  EXPECT_EQ(cells(table, "op"), (Cells{"aten::relu", "aten::mm", "aten::mm"}));
  EXPECT_EQ(cells(table, "grid"), (Cells{"-", "[2, 1, 1]", "[1, 1, 1]"}));
  EXPECT_EQ(cells(table, "registers"), (Cells{"-", "32", "32"}));
  EXPECT_EQ(cells(table, "shared_memory"), (Cells{"-", "8", "0"}));
  EXPECT_EQ(cells(table, "total"), (Cells{"12000", "5000", "3000"}));
}

// Of 8 µs in products, 3 ran with half a block per multiprocessor. A collective is not a compute kernel.
TEST(Kernels, Kinds) {
  const trace::Trace trace = test::open_events(R"(
    {"ph": "X", "cat": "kernel", "name": "volta_sgemm_128x64_nn", "pid": 0, "tid": 7, "ts": 0, "dur": 5, "args": {"blocks per SM": 2}},
    {"ph": "X", "cat": "kernel", "name": "volta_sgemm_32x32_nn", "pid": 0, "tid": 7, "ts": 5, "dur": 3, "args": {"blocks per SM": 0.5}},
    {"ph": "X", "cat": "kernel", "name": "softmax_warp_forward", "pid": 0, "tid": 7, "ts": 8, "dur": 2},
    {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 10, "dur": 9, "args": {"blocks per SM": 0.1}})");
  const report::Table table = test::answer("kernels", trace).tables[3];
  EXPECT_EQ(cells(table, "kind"), (Cells{"matrix", "softmax"}));
  EXPECT_EQ(cells(table, "count"), (Cells{"2", "1"}));
  EXPECT_EQ(cells(table, "total"), (Cells{"8000", "2000"}));
  EXPECT_EQ(cells(table, "share"), (Cells{"0.8", "0.2"}));
  EXPECT_EQ(cells(table, "small_grid_share"), (Cells{"0.375", "-"}));
}

TEST(Kernels, ShortOnesAndCopies) {
  const report::Report report = test::answer("kernels", test::open_events(kEvents));
  const report::Table& shorts = report.tables[1];
  EXPECT_EQ(cells(shorts, "below"), (Cells{"2000", "5000", "10000", "20000"}));
  EXPECT_EQ(cells(shorts, "count"), (Cells{"1", "2", "3", "4"}));  // 5 µs is not below 5 µs
  EXPECT_EQ(cells(shorts, "total"), (Cells{"1000", "3000", "8000", "20000"}));
  EXPECT_EQ(cells(shorts, "time_share"), (Cells{"0.05", "0.15", "0.4", "1"}));
  const report::Table& copies = report.tables[2];
  EXPECT_EQ(cells(copies, "name"), (Cells{"Memcpy HtoD", "Memset"}));
  EXPECT_EQ(cells(copies, "count"), (Cells{"2", "1"}));
  EXPECT_EQ(cells(copies, "bytes"), (Cells{"4000", "8"}));
  EXPECT_EQ(cells(copies, "total"), (Cells{"3000", "1000"}));
  EXPECT_EQ(cells(copies, "bytes_per_s"),
            (Cells{"2e+09", "8e+06"}));  // 4,000 bytes in 2 µs: the other copy has no size
}

TEST(Kernels, NothingRecorded) {
  const report::Report report = test::answer(
      "kernels",
      test::open_events(
          R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5})"));
  EXPECT_EQ(report.tables[0].rows(), 0u);
  EXPECT_NE(report.tables[0].column("total"), nullptr);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("ProfilerActivity"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
