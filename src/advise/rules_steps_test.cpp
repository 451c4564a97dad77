#include <fmt/format.h>

#include "advise/verdict.h"
#include "make_rank.h"

namespace stepscope::advise {
namespace {

using test::Cells;

/// Six steps: 20 calls of each of five ops, 10 µs each, then 25 launches of kernels of 20 µs. In step 4
/// ops of the names below `slower` take 15 µs a call, and nothing at all happens for `pause` µs.
std::string six_steps(int slower, int pause, int kernel = 20) {
  std::string events;
  int at = 0, id = 1;
  const auto add = [&](const char* category, const std::string& name, int pid, int tid, int from, int length,
                       int correlation = 0) {
    events += fmt::format(
        R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)J",
        category, name, pid, tid, from, length,
        correlation > 0 ? fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation) : "");
  };
  for (int step = 1; step <= 6; ++step) {
    const int begin = at;
    for (int call = 0; call < 100; ++call) {
      const int length = step == 4 && call % 5 < slower ? 15 : 10;
      add("cpu_op", fmt::format("aten::op{}", call % 5), 5, 5, at, length);
      at += length;
    }
    if (step == 4) at += pause;
    for (int k = 0; k < 25; ++k, ++id) {
      add("cuda_runtime", "cudaLaunchKernel", 5, 5, at + 2 * k, 1, id);
      const int length = step == 4 ? kernel : 20;
      add("kernel", fmt::format("k{}", k % 5), 0, 7, at + 3 + k * length, length, id);
    }
    at += 600;
    add("user_annotation", fmt::format("ProfilerStep#{}", step), 5, 5, begin, at - begin);
  }
  events.pop_back();
  return events;
}

report::Table findings_of(const std::string& events) {
  const trace::Trace trace = test::open_events(events);
  const analyze::Derived derived(trace, {});
  return verdict(derived, gather(derived, {}, 1), 1).tables[1];
}

std::string cell(const report::Table& findings, const char* id, const char* column) {
  const Cells ids = test::cells(findings, "id"), cells = test::cells(findings, column);
  const auto at = static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
  return at < cells.size() ? cells[at] : "none";
}

// All five ops take 15 µs in step 4: 500 µs more than the other steps' 1,600.
TEST(StepRules, SharedCpu) {
  const report::Table findings = findings_of(six_steps(5, 0));
  EXPECT_EQ(cell(findings, "I06", "title"),
            "Host operators run 1.5 times slower in 1 of 6 steps and kernels do not: the CPU is shared with "
            "something");
  EXPECT_EQ(cell(findings, "I06", "saving_high"), "83333");  // of 500 µs over six steps
  EXPECT_EQ(cell(findings, "H09", "id"), "none");            // the symptom is told by its cause
  EXPECT_NE(cell(findings, "I06", "evidence").find("H09: Step 4 took 2.10 ms against 1.60 ms"),
            std::string::npos);
}

TEST(StepRules, OneSlowOperatorIsNoSharedCpu) {
  const report::Table findings = findings_of(six_steps(1, 0));  // 100 µs longer: under 10 %
  EXPECT_EQ(cell(findings, "I06", "id"), "none");
  EXPECT_EQ(cell(findings, "H09", "id"), "none");
}

TEST(StepRules, APauseIsAnOutlier) {
  const report::Table findings = findings_of(six_steps(0, 500));
  EXPECT_EQ(cell(findings, "I06", "id"), "none");
  EXPECT_EQ(cell(findings, "H09", "title"),
            "Step 4 took 2.10 ms against 1.60 ms: time with nothing recorded grew by 500 µs");
  EXPECT_EQ(cell(findings, "H09", "saving_high"), "-");
}

TEST(StepRules, SlowKernelsAreNoSharedCpu) {
  EXPECT_EQ(cell(findings_of(six_steps(5, 0, 22)), "I06", "id"), "none");
}

TEST(StepRules, EqualStepsAreSilent) {
  const report::Table findings = findings_of(six_steps(0, 0));
  EXPECT_EQ(cell(findings, "I06", "id"), "none");
  EXPECT_EQ(cell(findings, "H09", "id"), "none");
}

}  // namespace
}  // namespace stepscope::advise
