#include <gtest/gtest.h>

#include <string>

#include "advise/rules/loop_for_test.h"
#include "make_program.h"

namespace stepscope::advise {
namespace {

using test::Advice;
using test::Program;

// 400 µs of an operator that launches nothing, between a load and the first launch of 1,500 µs steps.
TEST(InputRules, PreparingTheBatch) {
  Program program;
  program.loading.length = 50;
  program.prepare = {"cpu_op", "aten::normalize", 400};
  const Advice advice(program);
  EXPECT_NE(advice.cell("I05", "title").find("the host prepares the batch (aten::normalize)"),
            std::string::npos);
  program.prepare.length = 20;
  EXPECT_FALSE(Advice(program).has("I05"));
  program.prepare.length = 400;
  program.loading.length = 0;  // without a loader it is work like any other
  EXPECT_FALSE(Advice(program).has("I05"));
}

/// Steps of one kernel of 2 ms after a load of `length_of(step)` ms. If `twice(step)`, the step begins with
/// another wait, of `end` µs, in which the previous loop ended.
template <class LengthOf, class Twice>
std::string loads(int steps, const char* kind, LengthOf length_of, Twice twice, int end = 100) {
  test::EventText events;
  int at = 0;
  const std::string name = std::string("enumerate(DataLoader)#") + kind + ".__next__";
  for (int step = 1; step <= steps; ++step) {
    const int begin = at;
    if (twice(step)) {
      events.add("user_annotation", name, 5, 5, at, end);
      at += end + 50;
    }
    const int length = length_of(step) * 1000;
    events.add("user_annotation", name, 5, 5, at, length);
    at += length;
    const std::string link = fmt::format(R"("correlation": {})", step);
    events.add("cuda_runtime", "cudaLaunchKernel", 5, 5, at, 5, link);
    events.add("kernel", "k", 0, 7, at + 6, 2000, R"("device": 0, "stream": 7, )" + link);
    at += 2100;
    events.add("user_annotation", fmt::format("ProfilerStep#{}", step), 5, 5, begin, at - begin);
  }
  return events.text();
}

constexpr const char* kWorkers = "_MultiProcessingDataLoaderIter";
constexpr auto kNever = [](int) { return false; };

TEST(InputRules, WorkersThatAreAlwaysLate) {
  EXPECT_EQ(Advice(loads(20, kWorkers, [](int) { return 2; }, kNever)).ids(), test::Cells{"I02"});
}

/// Steps of 10 ms, 9 of them a wait for two workers, each of which fetches for `fetch` µs, `cpu` µs of it on
/// one of `cores`.
Advice two_workers(int cpu, int cores, int fetch = 9000) {
  return advice_of(
      [&](Loop& l) {
        l.fetch(6, fetch, cpu).fetch(7, fetch, cpu);
        l.range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 9000);
        l.op("aten::mm", 1000);
      },
      fmt::format(R"("machineInfo": {{"accelerators": 0, "cores": {}}}, )", cores));
}

TEST(InputRules, WorkersThatUseAllCores) {
  const Advice advice = two_workers(9000, 2);
  EXPECT_EQ(
      advice.cell("I02", "remedy"),
      "The 2 workers need 1.8 of 2 cores: more of them would not help. Make the transform cheaper, or do "
      "it once and keep the result.");
  EXPECT_EQ(advice.cell("I02", "saving_low"), "0");
}

TEST(InputRules, WorkersThatLeaveCores) {
  const Advice advice = two_workers(9000, 8);
  EXPECT_EQ(
      advice.cell("I02", "remedy"),
      "num_workers=8: The 2 workers need 1.8 of 8 cores, and each computes while it fetches. Or make the "
      "transform cheaper.");
  EXPECT_NE(advice.cell("I02", "saving_low"), "0");
}

TEST(InputRules, WorkersThatWait) {
  EXPECT_EQ(two_workers(900, 2).cell("I02", "remedy"),
            "num_workers=4: The 2 workers need 0.2 of 2 cores; the rest of a fetch is waiting, for files "
            "or a network. Such waits overlap. Or read ahead in the transform.");
}

TEST(InputRules, WorkersThatLoadFasterThanTheyHandOver) {
  const Advice advice = two_workers(900, 2, 900);
  EXPECT_EQ(
      advice.cell("I02", "title"),
      "9.00 ms of 10.0 ms per step: the program waits 9.00 ms for each batch that a worker loads in 900 µs");
  EXPECT_EQ(
      advice.cell("I02", "remedy"),
      "num_workers=0, or larger batches: most of the wait is for handing a batch over from a worker to the "
      "program.");
  EXPECT_EQ(advice.cell("I02", "saving_high"), "9720000");  // 9 ms - 0.9 ms, and kSlowedToo of it
}

// Every fifth batch is 10 ms late, the others are ready at once.
TEST(InputRules, WorkersThatDeliverInBursts) {
  const Advice advice(loads(20, kWorkers, [](int step) { return step % 5 == 0 ? 10 : 0; }, kNever));
  EXPECT_EQ(advice.cell("I04", "title"),
            "4 of 20 waits for data take up to 10.0 ms, the others under a quarter of that: batches come in "
            "bursts");
  EXPECT_FALSE(advice.has("I02"));
  EXPECT_FALSE(Advice(loads(20, kWorkers, [](int) { return 0; }, kNever)).has("I04"));
}

// Every eighth step begins a pass over the data with new workers.
TEST(InputRules, WorkersThatAreStartedAgain) {
  const auto pass = [](int step) { return step % 8 == 0; };
  const auto slow = [](int step) { return step % 8 == 0 ? 400 : 1; };
  const Advice advice(loads(24, kWorkers, slow, pass));
  EXPECT_EQ(advice.cell("I03", "title"),
            "400 ms at the start of each of 3 passes over the data: the workers are restarted");
  // 3 × (400 + 0.1) ms over 24 steps. Seen 3 times it could come 54 % more often, √((1 - 1/8) / 3): more than
  // a step takes beside its kernel.
  EXPECT_EQ(advice.cell("I03", "saving_low"), "13801598");  // 46 % of 0.6 × 50.01 ms
  EXPECT_EQ(advice.cell("I03", "saving_high"), "50993750");
  EXPECT_FALSE(advice.has("I02"));
  EXPECT_FALSE(advice.has("I04"));
  EXPECT_FALSE(Advice(loads(24, kWorkers, slow, kNever)).has("I03"));
  EXPECT_FALSE(Advice(loads(24, kWorkers, [](int) { return 1; }, pass)).has("I03"));
}

// Forked workers start in 30 ms. The end of the loop took 7 ms, which shows that the old ones were ended.
TEST(InputRules, WorkersThatAreForkedAgain) {
  const auto pass = [](int step) { return step % 8 == 0; };
  const auto slow = [](int step) { return step % 8 == 0 ? 30 : 1; };
  const Advice advice(loads(24, kWorkers, slow, pass, 7000));
  EXPECT_EQ(advice.cell("I03", "title"),
            "37.0 ms at the start of each of 3 passes over the data: the workers are restarted");
  EXPECT_FALSE(advice.has("I04"));
  EXPECT_FALSE(Advice(loads(24, kWorkers, slow, pass)).has("I03"));  // workers stayed: the loop ended at once
  const auto seldom = [](int step) { return step % 200 == 0; };
  const auto short_one = [](int step) { return step % 200 == 0 ? 11 : 1; };
  EXPECT_FALSE(Advice(loads(400, kWorkers, short_one, seldom, 1000)).has("I03"));  // 2 % of the window
  const auto late = [](int step) { return step % 200 == 0 ? 21 : 2; };
  EXPECT_EQ(Advice(loads(400, kWorkers, late, seldom, 1000)).ids(),
            (test::Cells{"I02", "H09"}));  // what every step pays, and the two long steps
}

// The device takes 3 ms a step, 2 of them for reductions that nothing hides. The host takes 2: 1.8 to load a
// batch and 0.2 to launch. Loading limits once the reductions do not.
TEST(InputRules, LoadingThatALateReductionHides) {
  test::EventText events;
  int id = 0;
  for (int step = 0; step < 20; ++step) {
    const int begin = 2000 * step;
    events.add("user_annotation", fmt::format("ProfilerStep#{}", step + 1), 5, 5, begin, 2000);
    events.add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 5, 5, begin,
               1800);
    events.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 5, 5, begin + 1800, 190);
    for (int i = 0; i < 22; ++i) {
      const std::string link = fmt::format(R"("correlation": {})", ++id);
      const bool reduces = i >= 20;
      events.add("cuda_runtime", "cudaLaunchKernel", 5, 5, begin + 1802 + 8 * i, 5, link);
      events.add("kernel", reduces ? "ncclDevKernel_AllReduce_Sum_float" : "sm90_xmma_gemm_bf16bf16", 0, 7,
                 1810 + 3000 * step + (reduces ? 1000 * (i - 19) : 50 * i), reduces ? 1000 : 50,
                 R"("device": 0, "stream": 7, )" + link);
    }
  }
  const Advice advice(events.text());
  EXPECT_EQ(advice.ids(), (test::Cells{"N06", "I01"}));
  EXPECT_EQ(advice.cell("I01", "when"), "next");
  EXPECT_EQ(advice.cell("I01", "saving_high"), "0");
  EXPECT_EQ(advice.cell("I01", "after_high"), "1000000");  // of 2 ms without reductions
}

// 2 × 50 elements, of which 50 + 10 are sequences: 40 % of 300 + 500 µs.
TEST(InputRules, PaddedBatches) {
  int number = 0;
  const auto padded = [&](int second) {
    return advice_of([&, second](Loop& l) {
      const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
      const auto of = [](const std::string& dims) {
        return fmt::format(R"("Input Dims": [[{}], []], "Input type": ["long int", "Scalar"])", dims);
      };
      l.around("aten::pad_sequence", 30).op("aten::fill_", 10, of("2, 50"));
      l.op("aten::copy_", 10, of("50")).op("aten::copy_", 10, of(std::to_string(second)));
      l.op("aten::mm", 300, sequence);
      l.op("autograd::engine::evaluate_function: MmBackward0", 500, sequence);
      l.range("user_annotation", "Optimizer.step#Adam.step", 170);
    });
  };
  const Advice advice = padded(10);
  EXPECT_EQ(advice.cell("I07", "title"), "40.0 % of the elements of padded batches are padding");
  EXPECT_EQ(advice.cell("I07", "saving_low"), "128000");
  EXPECT_EQ(advice.cell("I07", "saving_high"), "320000");
  EXPECT_TRUE(padded(25).has("I07"));
  EXPECT_FALSE(padded(26).has("I07"));
}

TEST(InputRules, PaddedTokens) {
  int number = 0;
  const auto padded = [&](const char* counts, const char* op = "aten::mul") {
    return advice_of(
        [&](Loop& l) {
          const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
          l.op("aten::mm", 300, sequence);
          l.op("autograd::engine::evaluate_function: MmBackward0", 500, sequence);
          l.op(op, 10);
          l.range("user_annotation", "Optimizer.step#Adam.step", 200);
        },
        fmt::format(R"("padding": {{"elements": 100, "largest": "[4, 25]", {}}}, )", counts));
  };
  const Advice fixed = padded(R"("padding": 60, "shared": 50)");
  EXPECT_EQ(
      fixed.cell("I07", "title"),
      "60.0 % of the tokens that embeddings look up are padding, in batches of up to [4, 25]; 50.0 % are in "
      "columns where every row is padding");
  EXPECT_EQ(fixed.cell("I07", "saving_low"), "280000");  // 0.7 × 0.5 × 800
  EXPECT_EQ(fixed.cell("I07", "saving_high"), "480000");
  EXPECT_EQ(padded(R"("padding": 60, "shared": 24)").cell("I07", "saving_low"), "0");
  EXPECT_FALSE(padded(R"("padding": 24, "shared": 24)").has("I07"));
  EXPECT_FALSE(padded(R"("padding": 60, "shared": 50)", "aten::_nested_tensor_from_mask").has("I07"));
}

}  // namespace
}  // namespace stepscope::advise
