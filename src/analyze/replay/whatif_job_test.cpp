// `whatif` and `stragglers` on several ranks that wait for each other.
#include <fmt/format.h>

#include <algorithm>

#include "make_rank.h"

namespace stepscope::analyze {
namespace {

using test::Cells;

/// A step of one rank: kernel x from 30 to `ready`, then an all-reduce to 210, all in µs. `shift`: of the
/// rank's clock, µs.
std::string rank_of(int ready, int shift, const char* members = "0, 1, 2") {
  return fmt::format(
      R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": {}, "dur": 40}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 4, "args": {{"correlation": 1}}}},
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 4, "args": {{"correlation": 2}}}},
{{"ph": "X", "cat": "kernel", "name": "x", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"stream": 7, "correlation": 1}}}},
{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{"stream": 7, "correlation": 2, "Collective name": "allreduce", "In msg nelems": 8, "dtype": "Float", "Group size": 3, "Process Group Name": "0", "Process Group Ranks": "[{}]", "Seq": 1}}}})J",
      shift, shift + 15, shift + 20, shift + 30, ready - 30, shift + ready, 210 - ready, members);
}
const std::vector<std::string> kLate = {rank_of(50, 0), rank_of(150, 7'000'000), rank_of(60, 400)};

report::Report whatif_of_job(const trace::Trace& trace, const std::string& scale) {
  return test::answer("whatif", trace, test::params({{"scale", scale}}));
}

// Without changes 210 µs. Compute halved: rank 1's kernel ends at 90, the collective at 150. The transfer
// halved: 180. Without rank 1, the last of the others comes at 60: 120.
TEST(WhatifOfAJob, EachChange) {
  const trace::Trace trace = test::open_ranks(kLate);
  const report::Report report = whatif_of_job(trace, "compute=0.5; comm=0.5; straggler:1=0");
  ASSERT_EQ(report.tables.size(), 4u);
  EXPECT_TRUE(report.notes.empty()) << report.notes[0];
  EXPECT_EQ(test::cells(report.tables[0], "identity"), (Cells{"210000", "210000", "210000"}));
  EXPECT_EQ(test::cells(report.tables[2], "identity"), Cells{"210000"});
  EXPECT_EQ(test::cells(report.tables[2], "error"), Cells{"0"});
  EXPECT_EQ(test::cells(report.tables[3], "step"), (Cells{"150000", "180000", "120000", "75000"}));
  EXPECT_EQ(test::cells(report.tables[3], "saving"), (Cells{"60000", "30000", "90000", "135000"}));
  // Kernels plus transfer of the rank that needs most: 60 + 60 µs and 120 + 30 on rank 1; 30 + 60 and 15 + 30
  // on rank 2.
  EXPECT_EQ(test::cells(report.tables[3], "low"), (Cells{"120000", "150000", "90000", "45000"}));
  EXPECT_EQ(test::cells(report.tables[3], "limit"),
            (Cells{"rank 1, kernels", "rank 1, kernels", "rank 2, collectives", "rank 2, collectives"}));
  EXPECT_EQ(test::cells(report.tables[1], "step"),
            (Cells{"150000", "180000", "120000", "75000", "150000", "180000", "120000", "75000", "150000",
                   "180000", "120000", "75000"}));
}

TEST(WhatifOfAJob, TheOrderOfFilesChangesNothing) {
  const trace::Trace one = test::open_ranks(kLate), other = test::open_ranks(kLate, {2, 0, 1});
  const char* scale = "compute=0.5; comm=0.5; straggler:1=0; data_loading=0";
  const report::Report a = whatif_of_job(one, scale), b = whatif_of_job(other, scale);
  for (std::size_t t = 0; t < a.tables.size(); ++t)
    for (const report::Column& column : a.tables[t].columns)
      EXPECT_EQ(test::cells(a.tables[t], column.name), test::cells(b.tables[t], column.name)) << column.name;
}

TEST(WhatifOfAJob, UnmatchedRanksAreReplayedAlone) {
  const trace::Trace trace = test::open_ranks({rank_of(50, 0, "0, 7"), rank_of(150, 0, "1, 7")});
  const report::Report report = whatif_of_job(trace, "compute=0.5; straggler:1=0");
  ASSERT_EQ(report.tables.size(), 2u);
  EXPECT_EQ(report.notes,
            (std::vector<std::string>{
                "Nothing in the recording matches straggler:1=0. The ranks are 0 and 1.",
                "Ranks are replayed separately: no collectives could be matched. So waits for other "
                "ranks stay inside the collectives."}));
  EXPECT_EQ(test::cells(report.tables[1], "step"),
            (Cells{"200000", "210000", "200000", "150000", "210000", "150000"}));
}

// Two all-reduces on two streams end at 200 and 210. One rank begins them at 100 and 110, the other 80 µs
// later: from 100 to 190 the first rank waits in one or both.
TEST(StragglersOfAJob, WaitsAtTheSameTimeCountOnce) {
  const auto rank = [](int begin) {
    std::string events =
        R"J({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 40})J";
    for (int i = 0; i < 2; ++i)
      events += fmt::format(
          R"J(,
{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {}, "dur": 4, "args": {{"correlation": {}}}}},
{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"stream": {}, "correlation": {}, "Collective name": "allreduce", "In msg nelems": 8, "dtype": "Float", "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Seq": {}}}}})J",
          15 + 5 * i, i + 1, 7 + i, begin + 10 * i, 200 - begin, 7 + i, i + 1, i + 1);
    return events;
  };
  const report::Report report = test::answer("stragglers", test::open_ranks({rank(100), rank(180)}));
  const auto waiting =
      std::find_if(report.tables.begin(), report.tables.end(),
                   [](const report::Table& table) { return table.title == "Waiting in collectives"; });
  ASSERT_NE(waiting, report.tables.end());
  EXPECT_EQ(test::cells(*waiting, "wait"), (Cells{"160000", "0"}));
  EXPECT_EQ(test::cells(*waiting, "waited"), (Cells{"90000", "0"}));
}

// Rank 1's collective is of another group: it would keep its recorded pace whatever the others do.
TEST(WhatifOfAJob, ARankThatNothingTiesIsNotReplayedWithOthers) {
  const trace::Trace trace = test::open_ranks({rank_of(50, 0), rank_of(150, 0, "1, 7"), rank_of(60, 0)});
  const report::Report report = whatif_of_job(trace, "compute=0.5");
  ASSERT_EQ(report.tables.size(), 2u);
  EXPECT_EQ(
      report.notes,
      Cells{"Ranks are replayed separately: no collective of rank 1 could be matched. So waits for other "
            "ranks stay inside the collectives."});
}

// The median of 50, 60 and 150 is 60: rank 1 costs 90 µs of the step, which is all of the imbalance.
TEST(StragglersOfAJob, CostIsWhatTheOthersGain) {
  const trace::Trace trace = test::open_ranks(kLate);
  const report::Report report = test::answer("stragglers", trace);
  ASSERT_EQ(report.tables.size(), 7u);
  EXPECT_EQ(test::cells(report.tables[0], "rank"), Cells{"1"});
  EXPECT_EQ(test::cells(report.tables[0], "cost"), Cells{"90000"});
  EXPECT_EQ(test::cells(report.tables[0], "cost_by"), Cells{"replay"});
  EXPECT_EQ(test::cells(report.tables[3], "balanced"), Cells{"120000"});
  EXPECT_EQ(test::cells(report.tables[3], "cost"), Cells{"90000"});
  EXPECT_EQ(test::cells(report.tables[4], "saving"), (Cells{"12000", "48000"}));  // of a transfer of 60 µs
  EXPECT_EQ(test::cells(report.tables[0], "time"), Cells{"120000"});              // the others: 20 and 30
  EXPECT_EQ(test::cells(report.tables[0], "others_time"), Cells{"25000"});
  EXPECT_EQ(test::cells(report.tables[0], "apart"), Cells{"5000"});
  EXPECT_EQ(test::cells(report.tables[5], "against"), Cells{"0"});
  EXPECT_EQ(test::cells(report.tables[5], "same_share"), Cells{"1"});
  EXPECT_EQ(test::cells(report.tables[5], "pace"), Cells{"6"});
}

// Kernels run from 30 µs to 50, 150 and 60; the collective ends at 210 and takes 60 µs once rank 1 has come.
TEST(StragglersOfAJob, EachRanksStepAddsUp) {
  const report::Table step = test::answer("stragglers", test::open_ranks(kLate)).tables.back();
  EXPECT_EQ(step.title, "Average step of each rank");
  EXPECT_EQ(test::cells(step, "compute"), (Cells{"20000", "120000", "30000"}));
  EXPECT_EQ(test::cells(step, "transfer"), (Cells{"60000", "60000", "60000"}));
  EXPECT_EQ(test::cells(step, "wait"), (Cells{"100000", "0", "90000"}));
  EXPECT_EQ(test::cells(step, "total"), (Cells{"210000", "210000", "210000"}));
}

TEST(WhatifOfAJob, AStragglerIsOnlyRemoved) {
  for (const char* scale : {"straggler:1=0.5", "straggler:x=0", "straggler=0"})
    EXPECT_EQ(whatif_of_job(test::open_ranks(kLate), scale).notes.size(), 1u) << scale;
}

}  // namespace
}  // namespace stepscope::analyze
