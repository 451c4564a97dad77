#include "advise/bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {
namespace {

using test::Cells;
using test::cells;

report::Report judged(std::string_view events) {
  const trace::Trace trace = test::open_events(events);
  const analyze::Derived derived(trace, {});
  return as_report(verdict(derived, gather(derived, 1)));
}

TEST(Bound, HostTimesSayWhatAStepTakes) {
  const report::Report report = judged(R"J(
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": 0, "dur": 1000},
  {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#X.__next__", "pid": 5, "tid": 5, "ts": 0, "dur": 250})J");
  EXPECT_EQ(cells(report.tables[0], "headline"),
            Cells{"No device activity is recorded: 25.0 % of each 1.00 ms step is waiting for data."});
  EXPECT_EQ(cells(report.tables[0], "rank"), Cells{"-"});
  EXPECT_EQ(cells(report.tables[1], "evidence"),
            (Cells{"input_wait: 250 µs per step (25.0 %)", "phases: other, 750 µs per step"}));
}

TEST(Bound, AMachineWithoutAnAcceleratorNeedsNoDeviceActivity) {
  const trace::Trace trace =
      test::open_json(R"J({"schemaVersion": 1, "machineInfo": {"accelerators": 0}, "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 0, "dur": 1000}]})J");
  const analyze::Derived derived(trace, {});
  const report::Report report = as_report(verdict(derived, gather(derived, 1)));
  EXPECT_EQ(cells(report.tables[0], "headline"),
            Cells{"The CPU does all the work: 100 % of the recorded 1.00 ms is operators and modules."});
  for (const std::string& id : cells(report.tables[2], "id")) EXPECT_NE(id, "Q10");
}

// One kernel, 10 µs after the return of a launch call that took 1990 µs: no record is missing.
TEST(Bound, OneKernelIsTooLittleToJudge) {
  const report::Report report = judged(R"J(
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": 0, "dur": 1990, "args": {"correlation": 1}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 2000, "dur": 100,
   "args": {"device": 0, "stream": 7, "correlation": 1}})J");
  EXPECT_EQ(cells(report.tables[0], "bound"), Cells{"too little to judge"});
}

// A step of 1 ms after a call of 1 s, or of 0.9.
TEST(Bound, FilesBeforeTheFirstStep) {
  const auto ids = [](std::int64_t us) {
    return cells(
        judged(
            fmt::format(
                R"J({{"ph": "X", "cat": "posix_call", "name": "read", "pid": 5, "tid": 5, "ts": 0, "dur": {}, "args": {{"fname": "/a", "ret": 1}}}},
    {{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 5, "tid": 5, "ts": {}, "dur": 1000}},
    {{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": {}, "dur": 900}},
    {{"ph": "X", "cat": "posix_call", "name": "read", "pid": 5, "tid": 5, "ts": {}, "dur": 1, "args": {{"fname": "/a", "ret": 1}}}})J",
                us, us + 10, us + 20, us + 950))
            .tables[2],
        "id");
  };
  const Cells slow = ids(1'000'000), fast = ids(900'000);
  EXPECT_NE(std::ranges::find(slow, "Q22"), slow.end());
  EXPECT_EQ(std::ranges::find(fast, "Q22"), fast.end());
}

// The losses that a full recording has are no damage.
TEST(Bound, AFullRecordingSaysSinceWhen) {
  const auto health = [](const char* disk) {
    const trace::Trace trace = test::open_json(fmt::format(
        R"J({{"schemaVersion": 1, "stepscope.full": {{"dropped": 70, "after_ns": 1500000000, "disk": {}}},
        "traceEvents": [{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 5, "ts": 0, "dur": 1000}}]}})J",
        disk));
    const analyze::Derived derived(trace, {});
    return as_report(verdict(derived, gather(derived, 1))).tables[2];
  };
  const Cells ids = cells(health("false"), "id");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "Q07"), 0);
  const auto at = std::find(ids.begin(), ids.end(), "Q17") - ids.begin();
  ASSERT_LT(at, static_cast<std::ptrdiff_t>(ids.size()));
  EXPECT_EQ(
      cells(health("false"), "what")[static_cast<std::size_t>(at)],
      "The recording was full after 1.50 s: 70 later records are missing, and ops that end later are left "
      "out.");
  EXPECT_EQ(cells(health("true"), "remedy")[static_cast<std::size_t>(at)], "Record to another disk.");
  EXPECT_EQ(cells(health(R"(false, "limit": 2)"), "remedy")[static_cast<std::size_t>(at)],
            "Raise the limit before you record: ulimit -f unlimited.");
  EXPECT_EQ(
      cells(health(R"(false, "limit": 3)"), "what")[static_cast<std::size_t>(at)],
      "The program could not open its recording any more after 1.50 s: 70 later records are missing, and "
      "ops that end later are left out.");
}

// Ten ops of 1 µs: recording them cost more than a tenth of the time.
TEST(Bound, TheCostOfRecordingNamesWhatWasOn) {
  std::string events;
  for (int i = 0; i < 10; ++i)
    events += R"J({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 5, "tid": 5, "ts": )J" +
              std::to_string(i) + R"J(, "dur": 1},)J";
  const auto remedies = [](const std::string& text) { return cells(judged(text).tables[2], "remedy"); };
  const auto has = [](const Cells& texts, const char* text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  const std::string python =
      R"J({"ph": "X", "cat": "python_function", "name": "f", "pid": 5, "tid": 5, "ts": 0, "dur": 10})J";
  EXPECT_TRUE(has(remedies(events + python), "Compare with a run without with_stack."));
  const std::string shaped =
      R"J({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 5, "tid": 5, "ts": 11, "dur": 1,
      "args": {"Input Dims": [[2]]}})J";
  EXPECT_TRUE(has(remedies(events + shaped), "Compare with a run without record_shapes."));
  events.pop_back();
  EXPECT_TRUE(has(remedies(events), "Compare with the step time without the profiler."));
}

// 25 kernels of 100 µs without a gap, beside one collective of 2 ms.
TEST(Bound, TheLargestKernelIsOneThatComputes) {
  const auto launched = [](int id, const char* name, int stream, int from, int length) {
    return fmt::format(
        R"J({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": {0}, "dur": 1, "args": {{"correlation": {0}}}}},
{{"ph": "X", "cat": "kernel", "name": "{1}", "pid": 0, "tid": {2}, "ts": {3}, "dur": {4}, "args": {{"device": 0, "stream": {2}, "correlation": {0}}}}},
)J",
        id, name, stream, from, length);
  };
  std::string events = launched(1, "ncclDevKernel_AllReduce", 20, 200, 2000);
  for (int i = 0; i < 25; ++i) events += launched(10 + 2 * i, "gemm", 7, 100 + 100 * i, 100);
  const std::string headline = cells(judged(events + R"J({"ph": "M"})J").tables[0], "headline")[0];
  EXPECT_TRUE(headline.starts_with("Device-bound")) << headline;
  // 2.5 of 4.5 ms
  EXPECT_NE(headline.find("The largest compute kernel, gemm, takes 55.6 % of kernel time"), std::string::npos)
      << headline;
}

}  // namespace
}  // namespace stepscope::advise
