#include <fmt/format.h>

#include "make_program.h"

namespace stepscope::advise {
namespace {

using test::Advice;
using test::Program;

/// Six steps: 20 calls of each of five ops, 10 µs each, then 25 launches of kernels of 20 µs. In step 4 the
/// first `slower` ops take 15 µs a call, nothing happens for `pause` µs, and kernels take `kernel` µs (0:
/// there are none in any step). `larger`: shapes are recorded, and the slower calls are on larger inputs.
/// Step 4 waits `wait` µs for data.
std::string six_steps(int slower, int pause, int kernel = 20, bool larger = false, int wait = 0) {
  std::string events;
  int at = 0, id = 1;
  const auto add = [&](const char* category, const std::string& name, int pid, int tid, int from, int length,
                       int correlation = 0, const std::string& args = "") {
    events += fmt::format(
        R"J({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}},)J",
        category, name, pid, tid, from, length,
        correlation > 0 ? fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation) : args);
  };
  for (int step = 1; step <= 6; ++step) {
    const int begin = at;
    for (int call = 0; call < 100; ++call) {
      const int length = step == 4 && call % 5 < slower ? 15 : 10;
      add("cpu_op", fmt::format("aten::op{}", call % 5), 5, 5, at, length, 0,
          larger ? fmt::format(R"("Input Dims": [[{}]])", length) : "");
      at += length;
    }
    if (step == 4) at += pause;
    if (step == 4 && wait > 0) {
      add("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5, 5, at, wait);
      at += wait;
    }
    for (int k = 0; kernel > 0 && k < 25; ++k, ++id) {
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

// All five ops take 15 µs in step 4: 500 µs more than the other steps' 1,600.
TEST(StepRules, SharedCpu) {
  const Advice findings(six_steps(5, 0));
  EXPECT_EQ(findings.cell("I06", "title"),
            "In 1 of 6 steps host operators take 1.5 times as long (median), but kernels do not: something "
            "else uses the CPU");
  EXPECT_EQ(findings.cell("I06", "saving_high"), "83333");  // of 500 µs over six steps
  EXPECT_EQ(findings.cell("H09", "id"), "none");            // the symptom is part of its cause
  EXPECT_NE(findings.cell("I06", "evidence").find("H09: Step 4 took 2.10 ms against a median of 1.60 ms"),
            std::string::npos);
}

TEST(StepRules, SharedCpuWithoutADevice) {
  const Advice findings(six_steps(5, 0, 0));
  EXPECT_EQ(
      findings.cell("I06", "title"),
      "In 1 of 6 steps host operators take 1.5 times as long (median): something else uses the CPU, another "
      "program or this one's own workers and threads");
  EXPECT_NE(findings.cell("I06", "remedy").find("Look for other programs"), std::string::npos);
}

// The wait of 1 ms is no work of operators that a free CPU would shorten.
TEST(StepRules, SharedCpuBesideAWait) {
  EXPECT_EQ(Advice(six_steps(5, 0, 0, false, 1000)).cell("I06", "saving_high"),
            Advice(six_steps(5, 0, 0)).cell("I06", "saving_high"));
}

TEST(StepRules, ALargerBatchIsNoSharedCpu) {
  EXPECT_TRUE(Advice(six_steps(5, 0, 0)).has("I06"));
  EXPECT_FALSE(Advice(six_steps(5, 0, 0, true)).has("I06"));
}

TEST(StepRules, OneSlowOperatorIsNoSharedCpu) {
  const Advice findings(six_steps(1, 0));  // 100 µs longer: under 10 %
  EXPECT_EQ(findings.cell("I06", "id"), "none");
  EXPECT_EQ(findings.cell("H09", "id"), "none");
}

TEST(StepRules, APauseIsAnOutlier) {
  const Advice findings(six_steps(0, 500));
  EXPECT_EQ(findings.cell("I06", "id"), "none");
  EXPECT_EQ(findings.cell("H09", "title"),
            "Step 4 took 2.10 ms against a median of 1.60 ms: time with nothing recorded grew by 500 µs");
  EXPECT_EQ(findings.cell("H09", "saving_high"), "-");
}

TEST(StepRules, SlowKernelsAreNoSharedCpu) {
  EXPECT_EQ(Advice(six_steps(5, 0, 22)).cell("I06", "id"), "none");
}

// Steps of 20 × 55 µs, each followed by 400 µs in which the device idles.
TEST(StepRules, PausesBetweenSteps) {
  Program program;
  program.pause = {"python_function", "torch/serialization.py(9): save", 400};
  EXPECT_NE(
      Advice(program).cell("H07", "title").find("the device idles between steps: a checkpoint is written"),
      std::string::npos);
  program.pause = {"cpu_op", "", 400};  // nothing is recorded
  EXPECT_NE(Advice(program).cell("H07", "title").find("nothing is recorded there"), std::string::npos);
  EXPECT_EQ(Advice(program).cell("H07", "confidence"), "low");
  program.pause = {"user_annotation", "Optimizer.step#SGD.step", 400};
  EXPECT_FALSE(Advice(program).has("H07"));
  program.pause = {"python_function", "torch/serialization.py(9): save", 20};
  EXPECT_FALSE(Advice(program).has("H07"));
}

// Loads of 300 µs before 20 × 55 µs; of 2,300 µs in the first step, whose last kernel ends 51 µs after the
// step.
TEST(StepRules, SavingsAreOfTheStepsBehindASlowFirst) {
  Program program;
  program.steps = 6;
  program.loading.length = 300;
  const std::string saving = Advice(program).cell("I01", "saving_high");
  program.first_loading = 2000;
  const Advice advice(program);
  EXPECT_EQ(advice.cell("I01", "saving_high"), saving);
  EXPECT_NE(advice.verdict("headline")
                .find("The first step took 3.45 ms, the median step 1.40 ms: savings are for the other "
                      "steps, 1.40 ms each."),
            std::string::npos)
      << advice.verdict("headline");
}

TEST(StepRules, EqualStepsAreSilent) {
  const Advice findings(six_steps(0, 0));
  EXPECT_EQ(findings.cell("I06", "id"), "none");
  EXPECT_EQ(findings.cell("H09", "id"), "none");
}

}  // namespace
}  // namespace stepscope::advise
