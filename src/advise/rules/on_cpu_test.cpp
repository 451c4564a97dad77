#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "advise/rules/loop_for_test.h"

namespace stepscope::advise {
namespace {

using test::Advice;
using test::Cells;

// 200 operators of 10 µs in 4 ms: recording cost 240 of the 2,000 µs. At least a quarter of 1,760 goes, at
// most 85 % of 1,880.
TEST(OnCpu, OptimizerThatWorksParameterByParameter) {
  const Advice advice =
      advice_of([](Loop& l) { l.op("aten::mm", 2000).ops_in("Optimizer.step#SGD.step", 200, 10); });
  EXPECT_EQ(advice.cell("H03", "title"),
            "The optimizer calls 200 operators per step, 10.0 µs each on average");
  EXPECT_EQ(advice.cell("H03", "saving_low"), "440000");
  EXPECT_EQ(advice.cell("H03", "saving_high"), "1598000");
  const auto few = [](Loop& l) { l.op("aten::mm", 2000).ops_in("Optimizer.step#SGD.step", 99, 20); };
  EXPECT_FALSE(advice_of(few).has("H03"));
  const auto long_ones = [](Loop& l) { l.op("aten::mm", 2000).ops_in("Optimizer.step#SGD.step", 100, 20); };
  EXPECT_FALSE(advice_of(long_ones).has("H03"));
}

// Groups that could be one: at least 8, twice as many as settings.
TEST(OnCpu, ParameterGroupsToMerge) {
  const auto optimizer = [](int groups, int different) {
    return advice_of(
        [](Loop& l) { l.op("aten::mm", 2000).ops_in("Optimizer.step#SGD.step", 100, 10); },
        fmt::format(R"("training": {{"gradients": 8, "groups": {{"all": {}, "different": {}}}}},)", groups,
                    different));
  };
  const Advice advice = optimizer(198, 12);
  EXPECT_EQ(advice.cell("H03", "title"),
            "The optimizer calls 100 operators per step, 10.0 µs each on average: it has 198 parameter "
            "groups, of 12 "
            "settings");
  EXPECT_TRUE(advice.cell("H03", "remedy").starts_with("Merge its parameter groups into 12"));
  for (const auto& [groups, different] : {std::pair(7, 1), std::pair(8, 5)})
    EXPECT_TRUE(optimizer(groups, different).cell("H03", "remedy").starts_with("torch.optim.SGD(")) << groups;
}

// 20 fills of 10 µs: recording cost 24 of 200 µs.
TEST(OnCpu, GradientsFilledWithZeros) {
  const Advice advice =
      advice_of([](Loop& l) { l.op("aten::mm", 2000).ops_in("Optimizer.zero_grad#SGD.zero_grad", 20, 10); });
  EXPECT_EQ(advice.cell("H04", "saving_low"), "123200");   // 0.7 × 176
  EXPECT_EQ(advice.cell("H04", "saving_high"), "263200");  // 1.4 × 188
  const auto few = [](Loop& l) { l.op("aten::mm", 500).ops_in("Optimizer.zero_grad#SGD.zero_grad", 19, 10); };
  EXPECT_FALSE(advice_of(few).has("H04"));
}

// 100 rounds of 20 µs beside 2 ms: recording cost 120 of 2,000 µs.
TEST(OnCpu, LoopOfSmallOperators) {
  const auto rows = [](Loop& l) {
    for (int i = 0; i < 100; ++i) l.op("aten::mul", 20);
    l.op("aten::mm", 2000);
  };
  const Advice advice = advice_of(rows);
  EXPECT_EQ(advice.cell("H05", "title"),
            "A loop of 100 × aten::mul takes 2.00 ms of 4.00 ms per step, 20.0 µs per round");
  EXPECT_EQ(advice.cell("H05", "saving_low"), "940000");    // half of 1,880
  EXPECT_EQ(advice.cell("H05", "saving_high"), "1901200");  // 98 of 100 rounds of 1,940
  const auto layers = [&](Loop& l) {                        // as many parameters get gradients
    rows(l);
    for (int i = 0; i < 100; ++i)
      l.op(std::string("autograd::engine::evaluate_function: ") + std::string(kAccumulate), 1);
  };
  EXPECT_FALSE(advice_of(layers).has("H05"));
  const auto work = [](Loop& l) {
    for (int i = 0; i < 20; ++i) l.op("aten::mul", 101);
  };
  EXPECT_FALSE(advice_of(work).has("H05"));
  const auto worker = [](Loop& l) { l.ops_in("DataLoader.fetch", 100, 20).op("aten::mm", 2000); };
  EXPECT_FALSE(advice_of(worker).has("H05"));
  const auto in_main = [](Loop& l) {
    l.ops_in("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 20).op("aten::mm", 2000);
  };
  EXPECT_FALSE(advice_of(in_main).has("H05"));
  EXPECT_TRUE(advice_of(in_main).has("I01"));
}

constexpr const char* kFloats = R"("Input Dims": [[1000000], []], "Input type": ["float", "Scalar"])";
constexpr const char* kDoubles =
    R"("Input Dims": [[1000, 1000], [1000, 1000]], "Input type": ["double", "double"])";

// Five passes of 400 µs over as many elements beside 2 ms: fused, four of five are saved.
TEST(OnCpu, ElementWiseOperators) {
  const auto chain = [](Loop& l) {
    for (int i = 0; i < 5; ++i) l.op("aten::mul", 400, kFloats);
    l.op("aten::mm", 2000);
  };
  const Advice advice = advice_of(chain);
  EXPECT_EQ(advice.cell("K01", "saving_low"), "600000");
  EXPECT_EQ(advice.cell("K01", "saving_high"), "1600000");
  const auto calls = [](Loop& l) {
    for (int i = 0; i < 20; ++i) l.op("aten::mul", 99, kFloats).op("aten::mm", 50);
  };
  EXPECT_FALSE(advice_of(calls).has("K01"));
}

TEST(OnCpu, DoublePrecision) {
  const Advice advice = advice_of([](Loop& l) { l.op("aten::mm", 3000, kDoubles).op("aten::relu", 1000); });
  EXPECT_EQ(advice.cell("P03", "title"), "3.00 ms of 4.00 ms per step are computed in double precision");
  EXPECT_EQ(advice.cell("P03", "saving_low"), "1000000");
  EXPECT_EQ(advice.cell("P03", "saving_high"), "2000000");
}

// 50 reductions of 20 µs while the main thread waits.
TEST(OnCpu, ManyCollectives) {
  const auto loop = [](int count) {
    return [count](Loop& l) {
      l.op("aten::mm", 2000);
      for (int i = 0; i < count; ++i) l.beside("gloo:all_reduce", 5, 20).op("c10d::allreduce_", 5).pass(25);
    };
  };
  const Advice advice = advice_of(loop(50));
  EXPECT_EQ(advice.cell("N02", "saving_low"), "700000");  // 0.7 to 1.2 of 50 × 20 µs
  EXPECT_EQ(advice.cell("N02", "saving_high"), "1200000");
  EXPECT_FALSE(advice_of(loop(49)).has("N02"));
  EXPECT_FALSE(advice_of(loop(50)).has("H07"));  // the thread waits, which is no pause of the program
}

TEST(OnCpu, ManyCollectivesNameTheLineThatCallsThem) {
  const Advice advice = advice_of([](Loop& l) {
    l.frame("train.py(9): main", 3505).op("aten::mm", 2000).frame("train.py(31): average", 1505);
    l.pass(5).frame("torch/distributed/distributed_c10d.py(80): all_reduce", 1500);
    for (int i = 0; i < 50; ++i) l.beside("gloo:all_reduce", 5, 20).op("c10d::allreduce_", 5).pass(25);
  });
  EXPECT_EQ(advice.cell("N02", "title"),
            "50 collectives per step, 20.0 µs each on average: 1.00 ms per step are not hidden by compute; "
            "most of them by "
            "train.py:31 (average), called by train.py:9 (main)");
}

// The backward pass takes 2 ms, and a reduction of 1 ms begins after it.
TEST(OnCpu, ReductionBehindTheBackwardPass) {
  const std::string node = "autograd::engine::evaluate_function: AddmmBackward0";
  const Advice advice = advice_of(
      [&](Loop& l) { l.op("aten::mm", 1000).op(node, 2000).beside("gloo:all_reduce", 0, 1000).pass(1000); });
  EXPECT_EQ(advice.cell("N06", "saving_high"), "1000000");
  const Advice early = advice_of([&](Loop& l) {
    l.op("aten::mm", 1000).beside("gloo:all_reduce", 1000, 2000).op(node, 2000).pass(1000);
  });
  EXPECT_FALSE(early.has("N06"));
}

// 1 ms of normalising before the first operator that a backward pass goes back through.
TEST(OnCpu, PreparingTheBatch) {
  const auto program = [](const std::string& second) {
    return [second, number = 7](Loop& l) mutable {
      const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
      l.range("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 50);
      l.op("aten::normalize", 1000, sequence).pass(5);
      l.op("aten::addmm", 1000, sequence).pass(5);
      l.op(second, 1000, sequence);
    };
  };
  const Advice advice = advice_of(program("autograd::engine::evaluate_function: AddmmBackward0"));
  EXPECT_EQ(advice.cell("I05", "saving_high"), "1200000");
  EXPECT_NE(advice.cell("I05", "title").find("the training process prepares the batch (aten::normalize)"),
            std::string::npos);
  EXPECT_FALSE(advice_of(program("aten::mm")).has("I05"));  // inference: all of it may be the model
}

// Code that is compiled in each of ten steps is compiled in the first two as well.
TEST(OnCpu, CompilingAgain) {
  const auto again = [](Loop& l) {
    l.op("aten::mm", 1000).range("user_annotation", "compile_inner (dynamo_timed)", 2000);
  };
  EXPECT_EQ(advice_of(again).cell("G01", "saving_low"), "1400000");
  EXPECT_EQ(advice_of(again).cell("G01", "saving_high"), "2000000");
}

// A compiler thread runs for 1,000 µs beside the main thread, which waits for it, and for 200 µs after that.
TEST(OnCpu, CompilingOnSeveralThreads) {
  const auto again = [](Loop& l) {
    l.range("user_annotation", "compile_inner (dynamo_timed)", 2000)
        .beside("compile_file (dynamo_timed)", -1000, 1200)
        .op("aten::mm", 1000);
  };
  const Advice advice = advice_of(again);
  EXPECT_NE(advice.cell("G01", "title").find("17.6 ms of compilation after the second step, 8 times"),
            std::string::npos);
  EXPECT_EQ(advice.cell("G01", "saving_high"), "2200000");
}

TEST(OnCpu, CompilingIsNoOperator) {
  EXPECT_FALSE(advice_of([](Loop& l) {
                 l.op("async_compile.wait (dynamo_timed)", 2000).op("aten::add", 10);
               }).has("H10"));
}

TEST(OnCpu, PythonAndPauses) {
  const auto python = [](Loop& l) {
    l.op("aten::mm", 2000).range("python_function", "train.py(9): features", 12000).op("aten::mm", 2000);
  };
  EXPECT_NE(advice_of(python)
                .cell("H02", "title")
                .find("the program runs only Python code in train.py:9 (features)"),
            std::string::npos);
  EXPECT_NE(advice_of(python).cell("H02", "verify").find("`stepscope show host_time`"), std::string::npos);
  EXPECT_FALSE(advice_of(python).has("H07"));  // in every step, and inside of it
  const auto pause = [](Loop& l) {
    l.pass(100).op("aten::mm", 4000).range("python_function", "json/encoder.py(2): dump", 1900);
  };
  EXPECT_EQ(advice_of(pause).cell("H07", "title"),
            "For 1.80 ms of 6.00 ms per step the program is between steps: something is written in "
            "json/encoder.py:2 (dump)");
  EXPECT_FALSE(advice_of(pause).has("H02"));
}

// 90,000 operators leave 5.4 ms of freeing. Only a longer time in the two gaps, each `length` + 100 µs, is a
// pause.
TEST(OnCpu, WhatOperatorsLeaveIsNoPause) {
  const auto has_pause = [](int length) {
    Loop loop;
    for (int number = 1; number <= 3; ++number)
      loop.step(number, [&](Loop& l) {
        l.pass(100);
        for (int i = 0; i < 30000; ++i) l.op("aten::mul", 1);
        l.pass(length);
      });
    return Advice(loop.text()).has("H07");
  };
  EXPECT_FALSE(has_pause(2500));
  EXPECT_TRUE(has_pause(2700));
}

TEST(OnCpu, GradientsInInference) {
  const auto inference = [](const char* layer, const char* args) {
    int number = 0;
    return advice_of([&](Loop& l) { l.op(layer, 900, fmt::format(fmt::runtime(args), ++number)).pass(100); });
  };
  const char* forward = R"("Sequence number": {})";
  EXPECT_EQ(inference("aten::linear", forward).cell("G04", "saving_high"), "350000");
  EXPECT_EQ(inference("aten::scaled_dot_product_attention", forward).cell("G04", "saving_high"), "700000");
  EXPECT_FALSE(inference("aten::linear", "").has("G04"));
  EXPECT_FALSE(inference("aten::linear", R"("Sequence number": 7)").has("G04"));  // no node is built
}

// 300 operators of 2 µs, each 3 µs after the one before begins: 899 of 1,000 µs.
TEST(OnCpu, ShortOperatorsOfOneLine) {
  const auto loop = [](int count, int length, int every) {
    return advice_of([&](Loop& l) {
      l.frame("train.py(9): main", 1000).frame("train.py(30): encode", count * every);
      for (int i = 0; i < count; ++i)
        l.op(i % 2 == 0 ? "aten::mul" : "aten::tanh", length).pass(every - length);
      l.pass(1000 - count * every);
    });
  };
  const Advice advice = loop(300, 2, 3);
  EXPECT_EQ(advice.cell("H12", "title"),
            "300 short operators per step, 3.00 µs each, take 899 µs of 1.00 ms; most of them by train.py:30 "
            "(encode), called by train.py:9 (main)");
  EXPECT_FALSE(loop(99, 2, 3).has("H12"));
  EXPECT_FALSE(loop(300, 1, 1).has("H12"));  // 300 of 1,000 µs
}

/// A step of 1,000 µs: forward 300, backward 500, the optimizer 200; what the recorder saw in one step.
Advice trained(const std::string& training) {
  int number = 0;
  return advice_of(
      [&](Loop& l) {
        const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
        l.op("aten::mm", 300, sequence);
        l.op("autograd::engine::evaluate_function: MmBackward0", 500, sequence);
        l.range("user_annotation", "Optimizer.step#Adam.step", 200);
      },
      "\"training\": {" + training + "}, ");
}

TEST(OnCpu, GradientsThatNobodyReads) {
  const Advice advice = trained(
      R"("gradients": 1000, "unread": {"parameters": 9, "elements": 400, "names": ["a.weight", "b.bias"]})");
  EXPECT_EQ(
      advice.cell("G05", "title"),
      "The backward pass computes gradients that no optimizer reads: those of 9 parameters, 40.0 % of all "
      "elements (a.weight, b.bias, …)");
  EXPECT_EQ(advice.cell("G05", "saving_low"), "40000");  // 0.2 × 0.4 × 500
  EXPECT_EQ(advice.cell("G05", "saving_high"), "500000");
  EXPECT_FALSE(trained(R"("gradients": 1000, "unread": {"parameters": 1, "elements": 49})").has("G05"));
  EXPECT_FALSE(trained("").has("G05"));
}

// 100 of 1,000 µs make a result of 512 × 512, and 300 µs with their backward pass work on it.
TEST(OnCpu, OperandsThatBroadcastToAllPairs) {
  int number = 0;
  const auto loss = [&](const char* operands) {
    return advice_of([&, operands](Loop& l) {
      const std::string sequence = fmt::format(R"("Sequence number": {}, )", ++number);
      l.op("aten::linear", 600);
      l.op("aten::sub", 100, fmt::format(R"("Input Dims": {})", operands));
      l.op("aten::abs", 100, sequence + R"("Input Dims": [[512, 512]])");
      l.op("autograd::engine::evaluate_function: AbsBackward0", 200,
           fmt::format(R"("Sequence number": {})", number));
    });
  };
  const Advice advice = loss("[[512, 1], [512], []]");
  EXPECT_EQ(advice.cell("H18", "title"),
            "aten::sub of [[512, 1], [512], []] makes [512, 512]: 400 µs of 1.00 ms per step work on results "
            "of that shape");
  EXPECT_EQ(advice.cell("H18", "saving_low"), "320000");
  EXPECT_EQ(advice.cell("H18", "saving_high"), "480000");
  EXPECT_TRUE(loss("[[512], [512, 1]]").has("H18"));
  const Advice placed = advice_of([](Loop& l) {
    l.frame("train.py(9): main", 1000).op("aten::linear", 600).frame("train.py(71): loss", 400);
    l.op("aten::sub", 400, R"("Input Dims": [[512, 1], [512]])");
  });
  EXPECT_EQ(
      placed.cell("H18", "title"),
      "aten::sub of [[512, 1], [512]] in train.py:71 (loss) makes [512, 512]: 400 µs of 1.00 ms per step "
      "work on results of that shape");
  for (const char* operands : {"[[512, 1], [1, 512]]", "[[512], [512]]", "[[63, 1], [63]]",
                               "[[512, 1], [511]]", "[[512, 1]]", "[]", "[[[512, 1], [512]]]"})
    EXPECT_FALSE(loss(operands).has("H18")) << operands;
}

TEST(OnCpu, GradientsOfData) {
  const Advice advice =
      trained(R"("gradients": 1000, "inputs": {"tensors": 1, "elements": 500, "shape": "[50, 10]"})");
  EXPECT_EQ(advice.cell("G05", "title"),
            "The backward pass computes the gradient of a tensor of [50, 10] that is no parameter, and "
            "accumulates it in "
            ".grad");
  EXPECT_EQ(advice.cell("G05", "saving_low"), "0");
  EXPECT_EQ(advice.cell("G05", "saving_high"), "166666");  // 500 of 1,500 elements × 500
  const Advice large =
      trained(R"("gradients": 1000, "inputs": {"tensors": 2, "elements": 9000, "shape": "[800, 10]"})");
  EXPECT_EQ(large.cell("G05", "title"),
            "The backward pass computes the gradients of 2 tensors that are no parameters, the largest of "
            "[800, 10], and accumulates them in .grad");
  EXPECT_EQ(large.cell("G05", "saving_high"), "250000");  // half of 500
  EXPECT_FALSE(trained(R"("gradients": 1000, "inputs": {"tensors": 1, "elements": 49, "shape": "[7, 7]"})")
                   .has("G05"));
}

// Half of the elements are in rows without a gradient: half of the optimizer's 200 µs.
TEST(OnCpu, DenseGradientsOfAnEmbedding) {
  const auto embedding = [](int touched) {
    return trained(
        fmt::format(R"("gradients": 160000, "embeddings": [{{"name": "words.weight", "rows": 10000, )"
                    R"("touched": {}, "elements": 100000, "bytes": 400000}}])",
                    touched));
  };
  const Advice advice = embedding(2000);
  EXPECT_EQ(
      advice.cell("H13", "title"),
      "Each step fills and applies a dense gradient of 10,000 rows of words.weight (391 KiB), 20.0 % of "
      "which were used");
  EXPECT_EQ(advice.cell("H13", "saving_low"), "50000");
  EXPECT_EQ(advice.cell("H13", "saving_high"), "100000");
  EXPECT_FALSE(embedding(2501).has("H13"));
}

TEST(OnCpu, AnomalyDetection) {
  const Advice advice = trained(R"("anomaly": true)");
  EXPECT_EQ(advice.cell("H14", "saving_low"), "0");
  EXPECT_EQ(advice.cell("H14", "saving_high"), "680000");  // 0.85 of forward and backward
  EXPECT_FALSE(trained(R"("anomaly": false)").has("H14"));
}

// Two passes of the model per optimizer step, each with a reduction of 100 µs after it.
TEST(OnCpu, GradientsReducedInEveryPass) {
  const auto passes = [](int count) {
    return advice_of([&](Loop& l) {
      for (int i = 0; i < count; ++i)
        l.op("DistributedDataParallel.forward", 100)
            .op("aten::mm", 100)
            .beside("gloo:all_reduce", 0, 100)
            .pass(100);
      l.range("user_annotation", "Optimizer.step#SGD.step", 100);
    });
  };
  const Advice advice = passes(2);
  EXPECT_EQ(
      advice.cell("N12", "title"),
      "Gradients are reduced in each of 2 backward passes per optimizer step, 2 collectives per step: 200 "
      "µs of 700 µs per step are not hidden by compute");
  EXPECT_EQ(advice.cell("N12", "saving_low"), "50000");    // half of one of the two
  EXPECT_EQ(advice.cell("N12", "saving_high"), "120000");  // 1.2 times that one
  EXPECT_FALSE(passes(1).has("N12"));
}

}  // namespace
}  // namespace stepscope::advise
