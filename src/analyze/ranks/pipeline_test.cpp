// Two stages, two micro-batches, one step: every part of it counted by hand.
#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope {
namespace {

using test::Cells;

/// Work on the device; times in µs.
struct StageWork {
  const char* name;  ///< "send" and "recv" are messages, "reduce" an all-reduce, "copy" a copy
  int stream, start, end;
  int start_ns = 0, end_ns = 0;  ///< added to `start`, `end`
};

std::string in_us(int us, int ns) { return fmt::format("{}.{:03}", us, ns); }

/// One step; the host launches all work in its first 90 µs. Steps are 1 ms apart.
std::string stage(int rank, const std::vector<StageWork>& works, int step = 3) {
  const int zero = (step - 3) * 1000;
  std::string events = fmt::format(
      R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 5, "tid": 5, "ts": {}, "dur": 90}})",
      step, zero);
  int id = 100 * (step - 3);
  for (const StageWork& w : works) {
    const std::string_view name = w.name;
    const bool message = name == "send" || name == "recv", copy = name == "copy";
    std::string args;
    if (message || name == "reduce")
      args = fmt::format(
          R"(, "Collective name": "{}", "dtype": "BFloat16", "In msg nelems": 1000, "Group size": 2, "Process Group Name": "1", "Process Group Ranks": "[0, 1]")",
          message ? name : "allreduce");
    if (message) args += fmt::format(R"(, "{} Rank": {})", name == "send" ? "Dst" : "Src", 1 - rank);
    ++id;
    events += fmt::format(
        R"(,{{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}},{{"ph": "X", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": {}, "correlation": {}{}}}}})",
        copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", zero + 2 * (id % 100), id,
        copy ? "gpu_memcpy" : "kernel",
        args.empty() ? name : "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", w.stream,
        in_us(zero + w.start, w.start_ns), in_us(w.end - w.start, w.end_ns - w.start_ns), w.stream, id, args);
  }
  return events;
}

const std::vector<StageWork> kFirst = {{"f1", 7, 100, 200},   {"send", 8, 200, 210}, {"f2", 7, 200, 300},
                                       {"send", 8, 300, 310}, {"recv", 9, 300, 420}, {"b1", 7, 420, 520},
                                       {"recv", 9, 520, 620}, {"b2", 7, 620, 720}};
const std::vector<StageWork> kSecond = {{"copy", 7, 0, 20},    {"reduce", 10, 40, 60}, {"recv", 8, 100, 210},
                                        {"f1", 7, 210, 310},   {"recv", 8, 210, 310},  {"b1", 7, 310, 410},
                                        {"send", 9, 410, 420}, {"f2", 7, 410, 510},    {"b2", 7, 510, 610},
                                        {"send", 9, 610, 620}};

// Stage 0: nothing runs until 100; only messages run from 300 to 420 and from 520 to 620. Stage 1: nothing
// runs from 20 to 40 and from 60 to 100; only messages run from 100 to 210 and from 610 to 620. The ideal
// bubble is a third of the step.
TEST(Pipeline, TwoStages) {
  const trace::Trace trace = test::open_ranks({stage(0, kFirst), stage(1, kSecond)});
  const report::Report report = test::answer("pipeline", trace);
  ASSERT_EQ(report.tables.size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    const report::Table& table = report.tables[i];
    EXPECT_EQ(test::cells(table, "rank"), (Cells{"0", "1"}));
    EXPECT_EQ(test::cells(table, "stage"), (Cells{"0", "1"}));
    EXPECT_EQ(test::cells(table, "micro_batches"), (Cells{"2", "2"}));
    EXPECT_EQ(test::cells(table, "length"), (Cells{"720000", "620000"}));
    EXPECT_EQ(test::cells(table, "compute"), (Cells{"400000", "400000"}));
    EXPECT_EQ(test::cells(table, "other"), (Cells{"0", "40000"}));
    EXPECT_EQ(test::cells(table, "bubble"), (Cells{"320000", "180000"}));
    EXPECT_EQ(test::cells(table, "waiting"), (Cells{"220000", "120000"}));
    EXPECT_EQ(test::cells(table, "idle"), (Cells{"100000", "60000"}));
    EXPECT_EQ(test::cells(table, "ideal_share"), (Cells{"0.333333", "0.333333"}));
    EXPECT_EQ(test::cells(table, "excess"), (Cells{"80000", "-26666"}));
  }
  EXPECT_EQ(test::cells(report.tables[0], "stages"), (Cells{"2", "2"}));
  EXPECT_EQ(test::cells(report.tables[0], "steps"), (Cells{"1", "1"}));
  EXPECT_EQ(test::cells(report.tables[1], "step"), (Cells{"3", "3"}));
  EXPECT_EQ(report.notes,
            (std::vector<std::string>{"A pipeline of 2 stages: 37.3 % of step time is bubble; with "
                                      "these micro-batches, filling and draining take 33.3 %."}));
}

// Stage 1 computes 120 µs more than stage 0's 400: 60 more than the mean. Even stages gain half of that, as
// there are two micro-batches.
TEST(Pipeline, TheHeaviestStageAndWhatBalanceGains) {
  std::vector<StageWork> heavy = kSecond;
  heavy.push_back({"b3", 7, 620, 740});
  const trace::Trace trace = test::open_ranks({stage(0, kFirst), stage(1, heavy)});
  const report::Table balance = test::answer("pipeline", trace).tables[2];
  EXPECT_EQ(test::cells(balance, "heaviest_stage"), Cells{"1"});
  EXPECT_EQ(test::cells(balance, "on_rank"), Cells{"1"});
  EXPECT_EQ(test::cells(balance, "compute"), Cells{"520000"});
  EXPECT_EQ(test::cells(balance, "mean_compute"), Cells{"460000"});
  EXPECT_EQ(test::cells(balance, "cost"), Cells{"30000"});
}

// The second step is 2 ns longer: 1 ns of compute and 1 ns of waiting. Means that end in half a nanosecond
// are rounded up, also that of compute, and the parts still add up.
TEST(Pipeline, RoundedPartsAddUp) {
  std::vector<StageWork> later = kFirst;
  later.back() = {"b2", 7, 620, 720, 1, 2};
  const trace::Trace trace = test::open_ranks(
      {stage(0, kFirst) + "," + stage(0, later, 4), stage(1, kSecond) + "," + stage(1, kSecond, 4)});
  const report::Table table = test::answer("pipeline", trace).tables[0];
  EXPECT_EQ(test::cells(table, "steps"), (Cells{"2", "2"}));
  EXPECT_EQ(test::cells(table, "length"), (Cells{"720001", "620000"}));
  EXPECT_EQ(test::cells(table, "compute"), (Cells{"400001", "400000"}));
  EXPECT_EQ(test::cells(table, "bubble"), (Cells{"320000", "180000"}));
  EXPECT_EQ(test::cells(table, "other"), (Cells{"0", "40000"}));
}

// Only rank 0's messages show that rank 1 is the other stage.
TEST(Pipeline, AStageOfWhichNothingIsHereIsNamed) {
  const std::vector<StageWork> alone = {{"f1", 7, 100, 200}};
  const trace::Trace trace = test::open_ranks({stage(0, kFirst), stage(1, alone)});
  const report::Report report = test::answer("pipeline", trace);
  EXPECT_EQ(test::cells(report.tables[0], "stage"), (Cells{"0"}));
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes[1],
            "No whole step of stage 1 is among these files; the means are over the other stages.");
}

TEST(Pipeline, SaysFirstWhyRanksMayNotBeCompared) {
  const std::vector<StageWork> alone = {{"f1", 7, 100, 200}};
  trace::Trace trace = test::open_ranks({stage(0, alone), stage(1, alone)});
  trace.doubts = {"These files are not the ranks of one job."};
  const report::Report report = test::answer("pipeline", trace);
  ASSERT_EQ(report.notes.size(), 2u);
  EXPECT_EQ(report.notes[0], trace.doubts[0]);
}

TEST(Pipeline, NoneWithoutMessages) {
  const std::vector<StageWork> alone = {{"f1", 7, 100, 200}, {"reduce", 8, 200, 300}};
  const trace::Trace trace = test::open_ranks({stage(0, alone), stage(1, alone)});
  const report::Report report = test::answer("pipeline", trace);
  EXPECT_EQ(report.tables[0].rows(), 0u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("No pipeline found: "));
}

}  // namespace
}  // namespace stepscope
