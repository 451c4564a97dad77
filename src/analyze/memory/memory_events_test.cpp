#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;

// Device 0 held 1,000 bytes before. aten::add [0,100) holds aten::empty [10,20), which allocates A of 400 at
// 15; add itself allocates B of 200 at 30 and frees A at 50. B stays. The host allocates and frees 8 outside
// of operators, at the same address as A. The free at 100 is of an older allocation; aten::add has ended by
// then.
constexpr const char* kAllocations = R"J(
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
  {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 5, "tid": 5, "ts": 10, "dur": 10},
  {"ph": "X", "cat": "cpu_op", "name": "aten::busy", "pid": 5, "tid": 6, "ts": 0, "dur": 300},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 15, "args": {"Device Type": 1, "Device Id": 0, "Addr": 64, "Bytes": 400, "Total Allocated": 1400, "Total Reserved": 2000}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 30, "args": {"Device Type": 1, "Device Id": 0, "Addr": 128, "Bytes": 200, "Total Allocated": 1600, "Total Reserved": 2000}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 50, "args": {"Device Type": 1, "Device Id": 0, "Addr": 64, "Bytes": -400, "Total Allocated": 1200, "Total Reserved": 2000}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 100, "args": {"Device Type": 1, "Device Id": 0, "Addr": 999, "Bytes": -300, "Total Allocated": 900, "Total Reserved": 2000}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 200, "args": {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": 8, "Total Allocated": 0, "Total Reserved": 0}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 210, "args": {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": -8, "Total Allocated": 0, "Total Reserved": 0}})J";

TEST(MemoryEvents, PeakAndWhatWasAlive) {
  const report::Report report = test::answer("memory_events", test::open_events(kAllocations));
  const report::Table& peaks = report.tables[0];
  EXPECT_EQ(cells(peaks, "device"), (Cells{"device 0", "host"}));
  EXPECT_EQ(cells(peaks, "peak_allocated"), (Cells{"1600", "0"}));
  EXPECT_EQ(cells(peaks, "peak_reserved"), (Cells{"2000", "0"}));
  EXPECT_EQ(cells(peaks, "peak_time"), (Cells{"30000", "200000"}));
  EXPECT_EQ(cells(peaks, "peak_change"), (Cells{"600", "8"}));
  EXPECT_EQ(cells(peaks, "end_change"), (Cells{"-100", "0"}));  // 400 + 200 − 400 − 300
  EXPECT_EQ(cells(peaks, "frees"), (Cells{"2", "1"}));
  const report::Table& alive = report.tables[1];
  EXPECT_EQ(cells(alive, "op"), (Cells{"allocated before the recording", "aten::add (aten::empty)",
                                       "aten::add", "outside operators"}));
  EXPECT_EQ(cells(alive, "bytes"), (Cells{"1000", "400", "200", "8"}));
  EXPECT_EQ(cells(alive, "share"), (Cells{"0.625", "0.25", "0.125", "1"}));
}

TEST(MemoryEvents, Steps) {
  const auto record = [](int at, int total) {
    return fmt::format(
        R"J({{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 1, "Device Id": 0, "Addr": 64, "Bytes": 8, "Total Allocated": {}, "Total Reserved": 2000}}}})J",
        at, total);
  };
  const trace::Trace trace = test::open_events(
      R"J({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 5, "tid": 5, "ts": 100, "dur": 100},)J" +
      record(10, 500) + "," + record(20, 900) + "," + record(90, 600) + "," + record(150, 700) + "," +
      record(300, 1));
  const report::Table table = test::answer("memory_events", trace).tables[5];
  EXPECT_EQ(cells(table, "step"), (Cells{"3", "4"}));
  EXPECT_EQ(cells(table, "lowest"), (Cells{"500", "700"}));
  EXPECT_EQ(cells(table, "highest"), (Cells{"900", "700"}));
}

TEST(MemoryEvents, OperatorsAndWhatStayed) {
  const report::Report report = test::answer("memory_events", test::open_events(kAllocations));
  const report::Table& ops = report.tables[2];
  EXPECT_EQ(cells(ops, "op"), (Cells{"aten::empty", "aten::add", "outside operators", "outside operators"}));
  EXPECT_EQ(cells(ops, "calls"), (Cells{"1", "1", "-", "-"}));
  EXPECT_EQ(cells(ops, "self_size_increase"), (Cells{"400", "-200", "-300", "0"}));  // add: 200 − 400
  EXPECT_EQ(cells(ops, "size_increase"), (Cells{"400", "200", "-", "-"}));
  EXPECT_EQ(cells(ops, "allocation_count"), (Cells{"1", "2", "-", "-"}));
  EXPECT_EQ(cells(ops, "self_allocation_size"), (Cells{"400", "200", "0", "8"}));
  EXPECT_EQ(cells(ops, "never_freed"), (Cells{"0", "200", "0", "0"}));
  const report::Table& kept = report.tables[3];
  EXPECT_EQ(cells(kept, "bytes"), (Cells{"200"}));
  EXPECT_EQ(cells(kept, "op"), (Cells{"aten::add"}));
  EXPECT_EQ(cells(kept, "event"), (Cells{"4"}));
}

TEST(MemoryEvents, CurveKeepsExtremes) {
  std::string events =
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 0, "dur": 1})";
  for (int i = 0; i < 1'000; ++i)  // one high at 501 and one low at 777
    events += R"(, {"ph": "i", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": )" +
              std::to_string(i + 1) +
              R"(, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 4, "Total Allocated": )" +
              std::to_string(i == 500   ? 90'000
                             : i == 776 ? 1
                                        : 5'000) +
              R"(, "Total Reserved": 100000}})";
  const report::Report report =
      test::answer("memory_events", test::open_events(events), test::params({{"points", "50"}}));
  const report::Table& curve = report.tables[4];
  EXPECT_LE(curve.rows(), 50u);
  const Cells times = cells(curve, "time"), levels = cells(curve, "allocated");
  EXPECT_EQ(times.front(), "1000");
  EXPECT_EQ(times.back(), "1000000");
  const auto high = std::find(levels.begin(), levels.end(), "90000"),
             low = std::find(levels.begin(), levels.end(), "1");
  ASSERT_TRUE(high != levels.end() && low != levels.end());
  EXPECT_EQ(times[static_cast<std::size_t>(high - levels.begin())], "501000");
  EXPECT_EQ(times[static_cast<std::size_t>(low - levels.begin())], "777000");
}

TEST(MemoryEvents, TopCutsRankingsAndNoCurve) {
  const trace::Trace trace = test::open_events(kAllocations);
  const report::Report whole = test::answer("memory_events", trace);
  const report::Report top = test::answer("memory_events", trace, test::params({{"top", "1"}}));
  ASSERT_EQ(whole.tables.size(), top.tables.size());
  for (std::size_t i = 0; i < whole.tables.size(); ++i)
    EXPECT_EQ(top.tables[i].rows(), whole.tables[i].shape == report::Shape::curve
                                        ? whole.tables[i].rows()
                                        : std::min<std::size_t>(1, whole.tables[i].rows()));
}

// The oldest files have no totals and no addresses: changes are known, lifetimes are not.
TEST(MemoryEvents, WithoutTotals) {
  const report::Report report = test::answer("memory_events", test::open_events(R"J(
    {"ph": "i", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 1, "args": {"Device Type": 1, "Device Id": 0, "Bytes": 100}},
    {"ph": "i", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": 2, "args": {"Device Type": 1, "Device Id": 0, "Bytes": -40}})J"));
  EXPECT_EQ(cells(report.tables[0], "peak_allocated"), (Cells{"-"}));
  EXPECT_EQ(cells(report.tables[0], "peak_change"), (Cells{"100"}));
  EXPECT_EQ(report.tables[1].rows(), 0u);
  EXPECT_EQ(cells(report.tables[2], "never_freed"), (Cells{"-"}));
  EXPECT_EQ(report.notes.size(), 2u);
}

// Records of 2^63 - 1 and of 2^62 bytes are impossible and are left out, an impossible total is computed from
// the previous one, and nothing overflows.
TEST(MemoryEvents, SizesThatNoMemoryHolds) {
  const auto record = [](int time, const char* bytes, const char* allocated, const char* reserved) {
    return fmt::format(
        R"J({{"ph": "i", "name": "[memory]", "s": "t", "pid": 5, "tid": 5, "ts": {}, "args": {{"Device Type": 1, "Device Id": 0, "Addr": {}, "Bytes": {}, "Total Allocated": {}, "Total Reserved": {}}}}})J",
        time, time, bytes, allocated, reserved);
  };
  const report::Report report = test::answer(
      "memory_events",
      test::open_events(fmt::format("{}, {}, {}, {}, {}", record(1, "100", "1000", "2000"),
                                    record(2, "9223372036854775807", "1100", "2000"),
                                    record(3, "-4611686018427387904", "1200", "2000"),
                                    record(4, "50", "9223372036854775807", "-9223372036854775808"),
                                    record(5, "-100", "-9223372036854775807", "2000"))));
  EXPECT_EQ(cells(report.tables[0], "peak_allocated"), (Cells{"1050"}));
  EXPECT_EQ(cells(report.tables[0], "peak_reserved"), (Cells{"2000"}));
  EXPECT_EQ(cells(report.tables[0], "peak_change"), (Cells{"150"}));
  EXPECT_EQ(cells(report.tables[0], "end_change"), (Cells{"50"}));
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("2 memory events have impossible sizes")) << report.notes[0];
}

}  // namespace
}  // namespace stepscope
