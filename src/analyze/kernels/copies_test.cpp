#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

// A kernel from 100 to 300 µs. A copy of 8 MB from 200 to 400, during and after the kernel, launched by
// aten::to right after aten::zeros. A copy of 4 bytes from 400 to 410 without an operator.
TEST(Copies, ByOperator) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "aten::zeros", "pid": 5, "tid": 5, "ts": 5, "dur": 2},
{"ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 5, "tid": 5, "ts": 10, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "aten::_to_copy", "pid": 5, "tid": 5, "ts": 11, "dur": 18},
{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 5, "tid": 5, "ts": 12, "dur": 16},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 13, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 100, "dur": 200, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 8, "ts": 200, "dur": 200, "args": {"device": 0, "stream": 8, "correlation": 2, "bytes": 8000000}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "pid": 0, "tid": 8, "ts": 400, "dur": 10, "args": {"device": 0, "stream": 8, "correlation": 3, "bytes": 4}}
)J");
  const report::Table table = test::answer("copies", trace).tables[0];
  EXPECT_EQ(test::cells(table, "op"), (Cells{"aten::to", "-"}));
  EXPECT_EQ(test::cells(table, "count"), (Cells{"1", "1"}));
  EXPECT_EQ(test::cells(table, "bytes"), (Cells{"8000000", "4"}));
  EXPECT_EQ(test::cells(table, "total"), (Cells{"200000", "10000"}));
  EXPECT_EQ(test::cells(table, "exposed"), (Cells{"100000", "10000"}));
  EXPECT_EQ(test::cells(table, "host"), (Cells{"10000", "0"}));
  EXPECT_EQ(test::cells(table, "small"), (Cells{"0", "1"}));
  EXPECT_EQ(test::cells(table, "created"), (Cells{"1", "0"}));
  EXPECT_EQ(test::cells(table, "large"), (Cells{"1", "0"}));
  EXPECT_EQ(test::cells(table, "large_rate"), (Cells{"4e+10", "-"}));
}

TEST(Copies, OfTheOperatorAbove) {
  const trace::Trace trace = test::open_events(R"J(
{"ph": "X", "cat": "cpu_op", "name": "model::load", "pid": 5, "tid": 5, "ts": 8, "dur": 30},
{"ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 5, "tid": 5, "ts": 10, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 5, "tid": 5, "ts": 13, "dur": 10, "args": {"correlation": 2}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 8, "ts": 200, "dur": 200, "args": {"device": 0, "stream": 8, "correlation": 2}}
)J");
  const report::Table table = test::answer("copies", trace).tables[0];
  EXPECT_EQ(test::cells(table, "op"), Cells{"model::load"});
  EXPECT_EQ(test::cells(table, "created"), Cells{"0"});
}

}  // namespace
}  // namespace stepscope
