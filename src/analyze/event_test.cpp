#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

constexpr const char* kEvents = R"J(
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 10, "dur": 30},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 12, "dur": 4, "args": {"correlation": 9}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.5, "dur": 8,
   "args": {"device": 0, "stream": 7, "correlation": 9, "grid": [1,  2, 3], "blocks per SM": 2.0, "note": "a \"b\"", "flag": true}})J";

std::string value_of(const report::Table& table, std::string_view part, std::string_view name) {
  const Cells parts = cells(table, "part"), names = cells(table, "name"), values = cells(table, "value");
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] == part && names[i] == name) return values[i];
  return "absent";
}

TEST(Event, EveryColumnAndArg) {
  const report::Report report =
      test::answer("event", test::open_events(kEvents), test::params({{"id", "2"}}));
  const report::Table& table = report.tables[0];
  EXPECT_EQ(value_of(table, "event", "name"), "gemm");
  EXPECT_EQ(value_of(table, "event", "kind"), "kernel");
  EXPECT_EQ(value_of(table, "event", "start"), "10500");
  EXPECT_EQ(value_of(table, "event", "duration"), "8000");
  EXPECT_EQ(value_of(table, "event", "stream"), "7");
  EXPECT_EQ(value_of(table, "derived", "launch"), "1 cudaLaunchKernel");
  EXPECT_EQ(value_of(table, "derived", "op"), "0 aten::mm");
  EXPECT_EQ(value_of(table, "derived", "work"), "compute");
  EXPECT_EQ(value_of(table, "arg", "correlation"), "9");
  EXPECT_EQ(value_of(table, "arg", "grid"), "[1,  2, 3]");
  EXPECT_EQ(value_of(table, "arg", "blocks per SM"), "2.0");
  EXPECT_EQ(value_of(table, "arg", "note"), "a \"b\"");
  EXPECT_EQ(value_of(table, "arg", "flag"), "true");
}

TEST(Event, LaunchNamesWhatItLaunched) {
  const report::Report report =
      test::answer("event", test::open_events(kEvents), test::params({{"id", "1"}}));
  EXPECT_EQ(value_of(report.tables[0], "derived", "launched"), "2 gemm");
  EXPECT_EQ(value_of(report.tables[0], "derived", "parent"), "0 aten::mm");
  EXPECT_EQ(value_of(report.tables[0], "derived", "depth"), "1");
}

TEST(Event, UnknownId) {
  const trace::Trace trace = test::open_events(kEvents);
  for (const report::Params& params :
       {test::params({{"id", "3"}}), test::params({}), test::params({{"id", "2"}, {"rank", "4"}})}) {
    const report::Report report = test::answer("event", trace, params);
    EXPECT_EQ(report.tables[0].rows(), 0u);
    EXPECT_EQ(report.notes.size(), 1u);
  }
}

}  // namespace
}  // namespace stepscope
