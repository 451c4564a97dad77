// leaks, churn, oom and fragmentation over small snapshots whose numbers are counted by hand.
#include <gtest/gtest.h>

#include "analyze/memory/leaks.h"
#include "analyze/memory/made_snapshot_for_test.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;
using test::kMiB;
using test::leaking;
using test::MadeSnapshot;
using test::split;

TEST(Leaks, ALineThatKeepsOneAllocationPerStep) {
  const trace::Trace trace = leaking(10, true).open();
  const report::Report report = test::answer("leaks", trace);
  EXPECT_EQ(cells(report.tables[0], "steps"), Cells{"8"});
  EXPECT_EQ(cells(report.tables[0], "warm_up"), Cells{"2"});
  EXPECT_EQ(cells(report.tables[0], "growth"), Cells{std::to_string(2 * kMiB)});
  EXPECT_EQ(cells(report.tables[0], "found_by"),
            Cells{"10 steps; each begins where /home/a/train.py(1): step allocates"});
  const report::Table& growing = report.tables[1];
  EXPECT_EQ(cells(growing, "place"), Cells{"/home/a/train.py(9): step"});
  EXPECT_EQ(cells(growing, "growth"), Cells{std::to_string(2 * kMiB)});
  EXPECT_EQ(cells(growing, "growth_count"), Cells{"1"});
  EXPECT_EQ(cells(growing, "count_first"), Cells{"2"});
  EXPECT_EQ(cells(growing, "count_last"), Cells{"9"});
}

TEST(Leaks, NoneInAHealthyLoop) {
  const report::Report report = test::answer("leaks", leaking(10, false).open());
  EXPECT_EQ(cells(report.tables[0], "growth"), Cells{"0"});
  EXPECT_EQ(report.tables[1].rows(), 0u);
}

TEST(Leaks, FewStepsProveNothing) {
  const report::Report report = test::answer("leaks", leaking(4, true).open());
  EXPECT_EQ(report.tables[0].rows(), 0u);
  EXPECT_NE(report.notes.back().find("Growth needs 5 steps"), std::string::npos) << report.notes.back();
}

// Twelve steps leak until an allocation fails; then the program ends, and frees all that it kept.
TEST(Leaks, UpToTheFailure) {
  MadeSnapshot made;
  for (int step = 0; step < 12; ++step) {
    for (int line = 1; line <= 4; ++line) made.event("alloc", line * kMiB, 1000, line);
    made.event("alloc", (100 + 2 * step) * kMiB, 2 * kMiB, 9);
    if (step == 11) break;
    for (int line = 4; line >= 1; --line) made.free(line * kMiB, 1000, line);
  }
  made.event("oom", 0, 64 * kMiB, 8);
  for (int line = 4; line >= 1; --line) made.free(line * kMiB, 1000, line);
  for (int step = 0; step < 12; ++step) made.free((100 + 2 * step) * kMiB, 2 * kMiB, 9);
  const report::Report report = test::answer("leaks", made.open());
  EXPECT_EQ(cells(report.tables[0], "steps"),
            Cells{"9"});  // of 12 the warm-up and that of the failure are left out
  EXPECT_EQ(cells(report.tables[1], "place"), Cells{"/home/a/train.py(9): step"});
  EXPECT_EQ(cells(report.tables[1], "growth"), Cells{std::to_string(2 * kMiB)});
}

TEST(Leaks, ChanceOfARise) {
  using analyze::chance_of_rise;
  EXPECT_NEAR(chance_of_rise({1, 2, 3, 4, 5}), 0.0138, 0.0005);  // S = 10, variance 50 / 3, z = 9 / 4.08
  EXPECT_EQ(chance_of_rise({5, 4, 3, 2, 1}), 1);
  EXPECT_EQ(chance_of_rise({3, 3, 3, 3}), 1);
  EXPECT_EQ(chance_of_rise({1, 2}), 1);
  EXPECT_EQ(analyze::median_slope({0, 10, 20, 30}), 10);
  EXPECT_EQ(analyze::median_slope({7}), 0);
}

// Step k takes a segment and returns it.
TEST(Churn, SegmentsTakenAndReturnedInEachStep) {
  MadeSnapshot made;
  for (int step = 0; step < 8; ++step) {
    made.event("alloc", 1 * kMiB, 1000, 1);
    made.event("segment_alloc", 500 * kMiB, 20 * kMiB, 2);
    made.event("alloc", 500 * kMiB, 3000, 2);
    made.event("alloc", 2 * kMiB, 1000, 3);
    made.free(500 * kMiB, 3000, 2);
    made.event("segment_free", 500 * kMiB, 20 * kMiB, 4);
    made.free(2 * kMiB, 1000, 3);
    made.free(1 * kMiB, 1000, 1);
  }
  const trace::Trace trace = made.open();
  const report::Report report = test::answer("churn", trace);
  EXPECT_EQ(cells(report.tables[0], "steps"), Cells{"6"});
  EXPECT_EQ(cells(report.tables[0], "unsettled"), Cells{"6"});
  EXPECT_EQ(cells(report.tables[0], "segments_taken"), Cells{"1"});
  EXPECT_EQ(cells(report.tables[0], "taken"), Cells{std::to_string(20 * kMiB)});
  EXPECT_EQ(cells(report.tables[0], "retries"), Cells{"0"});
  EXPECT_EQ(cells(report.tables[1], "place"),
            (Cells{"/home/a/train.py(2): step", "/home/a/train.py(4): step"}));
  EXPECT_EQ(cells(report.tables[2], "peak")[1], "5000");
  EXPECT_EQ(cells(report.tables[2], "lowest")[1], "0");
}

TEST(OutOfMemory, Fragmentation) {
  const report::Table table = test::answer("oom", split(20 * kMiB, 4 * kMiB).open()).tables[0];
  EXPECT_EQ(cells(table, "cause"), Cells{"fragmentation"});
  EXPECT_EQ(cells(table, "place"), Cells{"/home/a/train.py(8): step"});
  EXPECT_EQ(cells(table, "reserved"), Cells{std::to_string(60 * kMiB)});
  EXPECT_EQ(cells(table, "used"), Cells{std::to_string(30 * kMiB)});
  EXPECT_EQ(cells(table, "own_free"), Cells{std::to_string(30 * kMiB)});
  EXPECT_EQ(cells(table, "largest_free"), Cells{std::to_string(15 * kMiB)});
  EXPECT_EQ(cells(table, "obtainable"), Cells{std::to_string(4 * kMiB)});
  EXPECT_EQ(cells(table, "missing"), Cells{"0"});
  const report::Table pools = test::answer("fragmentation", split(20 * kMiB, 4 * kMiB).open()).tables[0];
  EXPECT_EQ(cells(pools, "split"), Cells{std::to_string(30 * kMiB)});
  EXPECT_EQ(cells(pools, "gaps"), Cells{"2"});
  EXPECT_EQ(cells(pools, "pages"), Cells{std::to_string(28 * kMiB)});  // 100-115 has 14 MiB, 130-145 too
}

// 40 MiB are free in small segments, which do not serve a request of 30 MiB.
TEST(OutOfMemory, SmallSegmentsServeNoLargeRequest) {
  const trace::Trace trace = test::open_json(R"({"segments": [
    {"device": 0, "address": 4194304, "total_size": 41943040, "stream": 0, "segment_type": "small", "blocks": [
      {"address": 4194304, "size": 41943040, "requested_size": 0, "state": "inactive", "frames": []}]},
    {"device": 0, "address": 104857600, "total_size": 209715200, "stream": 0, "segment_type": "large", "blocks": [
      {"address": 104857600, "size": 209715200, "requested_size": 209715200, "state": "active_allocated", "frames": []}]}],
    "device_traces": [[{"action": "oom", "device_free": 0, "size": 31457280, "stream": 0, "time_us": 5, "frames": []}]]})");
  const report::Table failed = test::answer("oom", trace).tables[0];
  EXPECT_EQ(cells(failed, "own_free"), Cells{"0"});
  EXPECT_EQ(cells(failed, "cause"), Cells{"shortage"});
}

TEST(OutOfMemory, OneRequestAndShortage) {
  const auto cause = [](std::int64_t request, std::int64_t device_free) {
    return cells(test::answer("oom", split(request, device_free).open()).tables[0], "cause");
  };
  EXPECT_EQ(cause(31 * kMiB, 0), Cells{"one_request"});          // over a fifth of 60 MiB
  EXPECT_EQ(cause(31 * kMiB, 30 * kMiB), Cells{"one_request"});  // of 90 MiB
  EXPECT_EQ(cause(32 * kMiB, 10 * kMiB), Cells{"one_request"});
  EXPECT_EQ(cells(test::answer("oom", split(31 * kMiB, 100 * kMiB).open()).tables[0], "obtainable"),
            Cells{"0"});
  EXPECT_EQ(cause(31 * kMiB, 100 * kMiB), Cells{"shortage"});  // refused: 31 of 160 MiB
}

}  // namespace
}  // namespace stepscope
