#include <fmt/format.h>

#include "make_rank.h"

namespace stepscope::analyze {
namespace {

using test::Cells;

// Two steps of 100 µs. Each: op [0,40), launch [40,44), kernel 46 … 96, sync 50 … 98 (second step: + 100).
TEST(LedgerAnalysis, OwnersAndBound) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 0, "dur": 40},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 40, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 50, "dur": 48},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 46, "dur": 50, "args": {"correlation": 1}},
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 5, "tid": 5, "ts": 100, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 100, "dur": 40},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 140, "dur": 4, "args": {"correlation": 2}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "pid": 5, "tid": 5, "ts": 150, "dur": 48},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 146, "dur": 50, "args": {"correlation": 2}})J");
  const report::Report report = test::answer("ledger", trace);
  ASSERT_EQ(report.tables.size(), 3u);
  // Gap [96,146): sync until 98, refill until the launch at 140, pending 6. The last gap [196,200): sync 2,
  // refill 2.
  EXPECT_EQ(test::cells(report.tables[1], "owner"), (Cells{"compute", "idle", "idle", "idle", "idle"}));
  EXPECT_EQ(test::cells(report.tables[1], "cause"), (Cells{"-", "sync", "refill", "op", "pending"}));
  EXPECT_EQ(test::cells(report.tables[1], "time"), (Cells{"100000", "4000", "44000", "40000", "12000"}));
  EXPECT_EQ(test::cells(report.tables[1], "per_step"), (Cells{"50000", "2000", "22000", "20000", "6000"}));
  EXPECT_EQ(test::cells(report.tables[2], "fact"), (Cells{"step", "idle", "late", "latency", "blocked",
                                                          "exposed_communication", "lag_growth", "prompt"}));
  // T is the lower of two: 96 for the first step, from the window's start, and 100 for the second.
  EXPECT_EQ(test::cells(report.tables[2], "per_step"),
            (Cells{"96000", "50000", "44000", "6000", "48000", "0", "0", "-"}));
  EXPECT_EQ(test::cells(report.tables[0], "bound"), Cells{"mixed"});  // late 44 %, blocked 48 %, idle 50 %
}

// The wait from 100 on comes after the step. Within the step the host launches late and never waits.
TEST(LedgerAnalysis, AWaitBehindTheLastStepDoesNotCount) {
  const trace::Trace trace = test::open_events(R"J(
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 100},
    {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 0, "dur": 90},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 90, "dur": 4, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 5, "tid": 5, "ts": 101, "dur": 52},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 95, "dur": 55, "args": {"correlation": 1}})J");
  const report::Report report = test::answer("ledger", trace);
  EXPECT_EQ(test::cells(report.tables[2], "per_step"),
            (Cells{"150000", "95000", "90000", "5000", "0", "0", "-", "-"}));
  EXPECT_EQ(test::cells(report.tables[0], "bound"), Cells{"host-bound"});
}

/// Ten steps. In each, a kernel runs 95 of 100 µs; in the `waiting` ones, a collective then runs 900 µs.
report::Report ten_steps(std::initializer_list<int> waiting) {
  std::string events;
  int at = 0;
  for (int step = 1; step <= 10; ++step) {
    const bool waits = std::find(waiting.begin(), waiting.end(), step) != waiting.end();
    const int length = waits ? 1000 : 100;
    const auto launched = [&](const char* name, int id, int from, int duration) {
      events += fmt::format(
          R"J({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {0}, "dur": 1, "args": {{"correlation": {1}}}}},
{{"ph": "X", "cat": "kernel", "name": "{2}", "pid": 0, "tid": 7, "ts": {3}, "dur": {4}, "args": {{"device": 0, "stream": 7, "correlation": {1}}}}},
)J",
          at, id, name, from, duration);
    };
    launched("gemm", 2 * step, at + 5, 95);
    if (waits) launched("ncclDevKernel_AllReduce", 2 * step + 1, at + 100, 900);
    events += fmt::format(
        R"J({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 5, "tid": 5, "ts": {}, "dur": {}}},)J",
        step, at, length);
    at += length;
  }
  events.pop_back();
  return test::answer("ledger", test::open_events(events));
}

// One step of ten waits 900 of all 1,900 µs: the typical step does not. Three of ten belong to the loop.
TEST(LedgerAnalysis, TheBoundIsOfTheTypicalStep) {
  const report::Report one = ten_steps({6});
  EXPECT_EQ(test::cells(one.tables[0], "bound"), Cells{"device-bound"});
  EXPECT_EQ(test::cells(one.tables[1], "time"), (Cells{"950000", "900000", "50000"}));  // the whole window
  EXPECT_EQ(test::cells(one.tables[2], "share")[5], "0");  // exposed_communication
  ASSERT_EQ(one.notes.size(), 1u);
  EXPECT_TRUE(one.notes[0].starts_with("The bound and its numbers leave out step 6, ")) << one.notes[0];
  const report::Report three = ten_steps({3, 6, 9});
  EXPECT_EQ(test::cells(three.tables[0], "bound"), Cells{"communication-bound"});
  EXPECT_TRUE(three.notes.empty());
}

TEST(LedgerAnalysis, Unknown) {
  const report::Report report = test::answer(
      "ledger",
      test::open_events(
          R"J({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 5, "tid": 5, "ts": 0, "dur": 40})J"));
  EXPECT_EQ(test::cells(report.tables[0], "bound"), Cells{"unknown"});
  EXPECT_EQ(report.tables[1].rows(), 0u);
}

}  // namespace
}  // namespace stepscope::analyze
