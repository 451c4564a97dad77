#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// One step of 100 µs: loading [0,20), mul [20,30), nothing [30,40), sub [40,50), mm [50,70), a reduction on
// another thread [70,90), nothing until 100.
const std::string kStep = R"J(
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#x.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 20},
{"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 5, "tid": 5, "ts": 20, "dur": 10,
 "args": {"Input Dims": [[8], [8]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::sub", "pid": 5, "tid": 5, "ts": 40, "dur": 10,
 "args": {"Input Dims": [[8], [8]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 50, "dur": 20,
 "args": {"Input Dims": [[2, 2], [2, 2]], "Input type": ["double", "double"]}},
{"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 5, "tid": 9, "ts": 70, "dur": 20})J";

TEST(HostTime, EveryNanosecondOfTheMainThreadHasAPlace) {
  const report::Table places = test::answer("host_time", test::open_events(kStep)).tables[0];
  EXPECT_EQ(cells(places, "place"),
            (Cells{"-", "-", "aten::mm", "enumerate(DataLoader)#x.__next__", "aten::mul", "aten::sub"}));
  EXPECT_EQ(cells(places, "cause"), (Cells{"sync", "untraced", "op", "input", "op", "op"}));
  EXPECT_EQ(cells(places, "time"), (Cells{"20000", "20000", "20000", "20000", "10000", "10000"}));
}

TEST(HostTime, WorkByKindAndType) {
  const report::Table work = test::answer("host_time", test::open_events(kStep)).tables[1];
  EXPECT_EQ(cells(work, "kind"), (Cells{"element-wise", "product"}));
  EXPECT_EQ(cells(work, "dtype"), (Cells{"fp32", "fp64"}));
  EXPECT_EQ(cells(work, "time"), (Cells{"20000", "20000"}));
  EXPECT_EQ(cells(work, "chained"), (Cells{"10000", "0"}));
}

TEST(HostTime, CollectivesThatTheMainThreadWaitsFor) {
  const report::Table collectives = test::answer("host_time", test::open_events(kStep)).tables[2];
  EXPECT_EQ(cells(collectives, "collectives"), Cells{"1"});
  EXPECT_EQ(cells(collectives, "exposed"), Cells{"20000"});
}

TEST(HostTime, IsSilentBesideADevice) {
  const report::Report report = test::answer("host_time", test::open_events(kStep + R"J(,
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 10, "args": {"device": 0, "stream": 7}})J"));
  for (const report::Table& table : report.tables) EXPECT_EQ(table.rows(), 0u);
}

}  // namespace
}  // namespace stepscope
