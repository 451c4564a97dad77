// H11: the program's own lines, and which line, function or call is named.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "advise/rules/loop_for_test.h"

namespace stepscope::advise {
namespace {

using test::Advice;

/// A step of 1,000 µs: `own` µs of a line outside the model, then a layer and its backward pass.
Advice own_line(int own) {
  int number = 0;
  return advice_of([&](Loop& l) {
    const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
    l.frame("train.py(9): main", 1000).frame("train.py(20): batch", own);
    l.pass(own).op("aten::mm", 400, sequence);
    l.op("autograd::engine::evaluate_function: MmBackward0", 600 - own, sequence);
  });
}

TEST(OwnLines, ALineBesidesTheModel) {
  const Advice advice = own_line(200);
  EXPECT_EQ(
      advice.cell("H11", "title"),
      "200 µs of 1.00 ms per step are spent in train.py:20 (batch), outside forward, backward and optimizer, "
      "called by train.py:9 (main)");
  EXPECT_EQ(advice.cell("H11", "saving_low"), "0");
  EXPECT_EQ(advice.cell("H11", "saving_high"), "240000");
  EXPECT_TRUE(own_line(100).has("H11"));
  EXPECT_FALSE(own_line(99).has("H11"));
  EXPECT_FALSE(advice.has("G04"));
}

// The main thread waits for 800 of 1,000 µs, while another thread is sampled in a line of its own.
TEST(OwnLines, ALineThatWaitsForAnotherThread) {
  const Advice advice = advice_of([](Loop& l) {
    l.frame("train.py(9): main", 1000).frame("threading.py(327): Condition.wait", 800);
    l.sampled("feed.py(5): make", 800).pass(800).op("aten::mm", 200);
  });
  EXPECT_EQ(
      advice.cell("H11", "title"),
      "800 µs of 1.00 ms per step are spent in train.py:9 (main), outside forward, backward and optimizer; "
      "inside them another 200 µs; it waits there for other threads, mostly in feed.py:5 (make) (80.0 % of "
      "the window, all threads together)");
  EXPECT_TRUE(advice.cell("H11", "remedy").starts_with("Make feed.py:5 (make) cheaper"));
}

// Calls tell of functions: what a module does, and the backward pass that the function waits for, are not its
// own; an operator that it calls itself in the forward pass is.
TEST(OwnLines, AFunctionThatRunsTheModel) {
  int number = 0;
  const Advice advice = advice_of([&](Loop& l) {
    const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
    l.frame("train.py(20): step", 1000).pass(200);
    l.op("aten::mul", 100, sequence).frame("nn.Module: Linear_0", 300).op("aten::mm", 300);
    l.frame("torch/_tensor.py(5): backward", 400);
    l.op("autograd::engine::evaluate_function: MulBackward0", 400, sequence);
  });
  EXPECT_EQ(
      advice.cell("H11", "title"),
      "200 µs of 1.00 ms per step are spent in train.py:20 (step), outside forward, backward and optimizer; "
      "inside them another 100 µs");
  EXPECT_EQ(advice.cell("H11", "saving_high"), "360000");
}

/// A step of 10,000 µs with so many garbage collections of `length` µs.
Advice collecting(int count, int length) {
  return advice_of([&](Loop& l) {
    for (int i = 0; i < count; ++i) l.frame("Python GC", length).pass(length);
    l.op("aten::mm", 10'000 - count * length);
  });
}

TEST(OwnLines, GarbageCollections) {
  const Advice advice = collecting(3, 200);
  EXPECT_EQ(advice.cell("H24", "title"),
            "Python's garbage collector runs 3 times per step and takes 600 µs of 10.0 ms");
  EXPECT_EQ(advice.cell("H24", "saving_low"), "0");
  EXPECT_EQ(advice.cell("H24", "saving_high"), "600000");
  EXPECT_TRUE(collecting(2, 100).has("H24"));
  EXPECT_FALSE(collecting(2, 99).has("H24"));
}

/// A step of 4,000 µs: a loop of 100 operators of 10 µs in one line, `other` µs in another, and a layer.
Advice loop_beside(int other) {
  int number = 0;
  return advice_of([&](Loop& l) {
    const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
    l.frame("train.py(9): main", 4000).frame("train.py(20): rows", 1000);
    for (int i = 0; i < 100; ++i) l.op("aten::mul", 10);
    l.frame("train.py(30): log", other).pass(other).op("aten::mm", 1000, sequence);
    l.op("autograd::engine::evaluate_function: MmBackward0", 2000 - other, sequence);
  });
}

TEST(OwnLines, ALoopExplainsItsOwnLineOnly) {
  const Advice same = loop_beside(100);
  EXPECT_FALSE(same.has("H11"));
  EXPECT_NE(same.cell("H05", "evidence").find("H11: 1.00 ms of 4.00 ms"), std::string::npos);
  const Advice another = loop_beside(1500);
  EXPECT_TRUE(another.has("H05"));
  EXPECT_NE(another.cell("H11", "title").find("train.py:30 (log)"), std::string::npos);
}

/// A step of 1,000 µs: lines below train.py:9 of the given lengths, outside the model.
Advice own_lines(const std::vector<std::pair<std::string, int>>& lines) {
  return advice_of([&](Loop& l) {
    l.frame("train.py(9): main", 1000);
    int rest = 1000;
    for (const auto& [line, length] : lines) {
      l.frame("train.py(20): batch", length).frame(line, length).pass(length);
      rest -= length;
    }
    l.op("aten::mm", rest);
  });
}

// 300 + 100 of the 800 µs are one line's, two functions of it; the next three are listed if they hold 80 of
// the 800.
TEST(OwnLines, TheDearestLineAndTheNextOnes) {
  const Advice advice = own_lines({{"train.py(31): read", 300},
                                   {"train.py(32): read", 80},
                                   {"train.py(31): read.<locals>.<genexpr>", 100},
                                   {"train.py(34): read", 150},
                                   {"train.py(35): read", 79},
                                   {"train.py(36): read", 91}});
  EXPECT_EQ(
      advice.cell("H11", "title"),
      "400 µs of 1.00 ms per step are spent in train.py:31 (read), outside forward, backward and optimizer, "
      "called by train.py:20 (batch); 150 µs in train.py:34 (read), 91.0 µs in train.py:36 (read), 80.0 µs "
      "in train.py:32 (read)");
}

// No line holds 0.3 of the 800 µs: the line that calls them all is named.
TEST(OwnLines, ManyLinesOfOneCall) {
  const Advice advice = own_lines({{"train.py(31): read", 200},
                                   {"train.py(32): read", 79},
                                   {"train.py(33): read", 150},
                                   {"train.py(34): read", 140},
                                   {"train.py(35): read", 116},
                                   {"train.py(36): read", 115}});
  EXPECT_EQ(advice.cell("H11", "title"),
            "800 µs of 1.00 ms per step are spent in train.py:20 (batch), outside forward, backward and "
            "optimizer, called by train.py:9 (main); of it "
            "200 µs in train.py:31 (read), 150 µs in train.py:33 (read), 140 µs in train.py:34 (read)");
}

// One line, called from two places: 300 and 500 µs.
TEST(OwnLines, ALineCalledFromTwoPlaces) {
  const Advice advice = advice_of([](Loop& l) {
    for (const auto& [caller, length] :
         {std::pair{"train.py(11): main", 300}, std::pair{"train.py(12): main", 500}})
      l.frame(caller, length).frame("train.py(31): score", length).pass(length);
    l.op("aten::mm", 200);
  });
  EXPECT_EQ(advice.cell("H11", "title"),
            "800 µs of 1.00 ms per step are spent in train.py:31 (score), outside forward, backward and "
            "optimizer, called "
            "62.5 % by train.py:12 (main), 37.5 % by train.py:11 (main)");
}

// Called in two lines, each for 400 µs: no line holds 0.3 of the 800 µs, and no call holds most of it.
TEST(OwnLines, AFunctionCalledInSeveralLines) {
  const Advice advice = advice_of([](Loop& l) {
    l.frame("train.py(5): <module>", 1000).frame("train.py(9): main", 400);
    const auto view = [&] {
      for (const int line : {42, 43, 44, 45})
        l.frame("train.py(" + std::to_string(line) + "): view", 100).pass(100);
    };
    view();
    l.frame("train.py(10): main", 400);
    view();
    l.op("aten::mm", 200);
  });
  EXPECT_EQ(
      advice.cell("H11", "title"),
      "800 µs of 1.00 ms per step are spent in view() in train.py, outside forward, backward and optimizer, "
      "called 50.0 % by train.py:10 (main), 50.0 % by train.py:9 (main); of it 200 µs in train.py:42 "
      "(view), 200 µs in train.py:43 (view), 200 µs in train.py:44 (view)");
}

/// Ranks of 10 steps of 1,000 µs: `evaluating` of the given µs in an operator of a line besides the model.
Advice ranks(const std::vector<int>& evaluating) {
  std::vector<std::string> events;
  for (const int length : evaluating) {
    int number = 0;
    Loop loop;
    for (int step = 1; step <= 10; ++step)
      loop.step(step, [&](Loop& l) {
        const std::string sequence = fmt::format(R"("Sequence number": {})", ++number);
        l.frame("train.py(9): main", 1000).op("aten::mm", 300, sequence);
        l.op("autograd::engine::evaluate_function: MmBackward0", 600 - length, sequence);
        l.range("user_annotation", "Optimizer.step#SGD.step", 100);
        l.frame("train.py(64): accuracy", length).op("aten::conv2d", length);
      });
    events.push_back(loop.text());
  }
  return Advice(test::open_ranks(events));
}

TEST(OwnLines, WhatEachRankDoes) {
  const std::string both = ranks({300, 300}).cell("H11", "title");
  EXPECT_NE(both.find("train.py:64 (accuracy), on each rank, outside"), std::string::npos) << both;
  const std::string one = ranks({300, 100}).cell("H11", "title");
  EXPECT_NE(one.find("train.py:64 (accuracy), outside"), std::string::npos) << one;
}

/// Steps of 40 ms on the CPU: a batch takes `loading` µs in a line of that function.
Advice loading(int length, const std::string& function) {
  return advice_of([&](Loop& l) {
    l.frame("train.py(9): main", 40'000);
    l.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0);
    l.frame("train.py(62): " + function, length);
    l.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", length);
    l.op("aten::mm", 40'000 - length);
  });
}

// 14 % of a step: workers may take from the operators what they save. 20 % they surely hide.
TEST(OwnLines, LittleLoadingPromisesNothingForSure) {
  EXPECT_EQ(loading(7400, "Songs.__getitem__").cell("I01", "saving_low"), "0");
  EXPECT_NE(loading(7600, "Songs.__getitem__").cell("I01", "saving_low"), "0");
}

// Workers need up to 1.5 ms to hand a batch over: 3.5 ms are 5 % of a step more than that, 3.4 are not.
TEST(OwnLines, LoadingThatWorkersWouldTakeOver) {
  const Advice advice = loading(8000, "Songs.__getitem__");
  EXPECT_EQ(advice.cell("I01", "saving_low"),
            "3899580");  // 0.6 × (8 − 1.5 − 0.0007 for recording the inner range)
  EXPECT_EQ(advice.cell("I01", "remedy").find("DataLoader(..., num_workers="), 0U);
  EXPECT_TRUE(loading(3500, "Songs.__getitem__").has("I01"));
  EXPECT_FALSE(loading(3400, "Songs.__getitem__").has("I01"));
}

// No line of the dataset takes much of the 8 ms, and the loop over the loader calls them all.
TEST(OwnLines, LoadingOfManyLinesNamesTheirFunction) {
  const Advice advice = advice_of([&](Loop& l) {
    l.frame("train.py(9): main", 40'000);
    l.range("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0);
    l.around("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 8000);
    for (int line = 62; line < 70; ++line)
      l.frame(fmt::format("train.py({}): Songs.__getitem__", line), 1000).pass(1000);
    l.op("aten::mm", 32'000);
  });
  EXPECT_NE(advice.cell("I01", "title").find("Songs.__getitem__() in train.py"), std::string::npos)
      << advice.cell("I01", "title");
}

TEST(OwnLines, NoWorkerRunsASampler) {
  const Advice advice = loading(8000, "TagSampler.__iter__");
  EXPECT_NE(advice.cell("I01", "title").find("train.py:62 (TagSampler.__iter__)"), std::string::npos);
  EXPECT_EQ(advice.cell("I01", "remedy").find("num_workers"), std::string::npos);
}

// 300 of 1,000 µs pick rows of a matrix whose columns lie together.
TEST(OwnLines, RowsPickedFromColumns) {
  const auto picked = [](const std::string& dims, const std::string& strides) {
    return advice_of([&](Loop& l) {
      l.frame("train.py(9): main", 1000).frame("train.py(30): step", 300);
      l.op("aten::index", 300, fmt::format(R"("Input Dims": {}, "Input Strides": {})", dims, strides));
      l.op("aten::mm", 700);
    });
  };
  const Advice advice = picked("[[9000, 244], [[1024]]]", "[[1, 9000], [[1]]]");
  EXPECT_EQ(advice.cell("H20", "title"),
            "300 µs of 1.00 ms per step: aten::index picks rows of a tensor that is stored column-major, "
            "[[9000, 244], [[1024]]], in train.py:30 (step)");
  EXPECT_TRUE(advice.has("H20"));
  EXPECT_FALSE(picked("[[9000, 244], [[1024]]]", "[[244, 1], [[1]]]").has("H20"));
  EXPECT_FALSE(picked("[[9000, 7], [[1024]]]", "[[1, 9000], [[1]]]").has("H20"));  // few columns
  EXPECT_FALSE(picked("[[9000], [[1024]]]", "[[1], [[1]]]").has("H20"));
}

/// A step of 10,000 µs: two assignments to slices, whose nodes take `each` µs.
Advice slices(int each) {
  int number = 0;
  return advice_of([&](Loop& l) {
    const auto next = [&] { return fmt::format(R"("Sequence number": {})", ++number); };
    const std::string first = next(), second = next();
    l.frame("train.py(9): main", 10'000);
    l.frame("train.py(20): forward", 20).op("aten::copy_", 10, first).op("aten::copy_", 10, second);
    for (const std::string& sequence : {second, first})
      l.op("autograd::engine::evaluate_function: torch::autograd::CopySlices", each, sequence);
    l.op("aten::mm", 9'980 - 2 * each);
  });
}

TEST(OwnLines, AssignmentsToSlices) {
  const Advice advice = slices(1000);
  EXPECT_EQ(advice.cell("H21", "title"),
            "2.00 ms of 10.0 ms per step: the backward pass copies a whole gradient 2 times, once for each "
            "assignment to a slice in train.py:20 (forward)");
  EXPECT_EQ(advice.cell("H21", "saving_low"), "1000000");
  EXPECT_EQ(advice.cell("H21", "saving_high"), "2400000");
  EXPECT_TRUE(slices(100).has("H21"));
  EXPECT_FALSE(slices(99).has("H21"));
}

// 400 of 1,000 µs transform 134 = 2 × 67 points.
TEST(OwnLines, FourierTransformsOfAwkwardLengths) {
  const auto transforms = [](int points) {
    return advice_of([&](Loop& l) {
      l.frame("train.py(9): main", 1000).frame("train.py(30): echo", 400);
      l.around("aten::fft_rfft", 400, R"("Input Dims": [[4, 100], []])");
      l.op("aten::_fft_r2c", 400, fmt::format(R"("Input Dims": [[4, {}], [], [], []])", points));
      l.op("aten::mm", 600);
    });
  };
  const Advice advice = transforms(134);
  EXPECT_EQ(
      advice.cell("H22", "title"),
      "400 µs of 1.00 ms per step: Fourier transforms of 134 points, whose prime factor 67 makes them slow, "
      "in train.py:30 (echo)");
  EXPECT_EQ(advice.cell("H22", "saving_low"), "200000");
  EXPECT_EQ(advice.cell("H22", "saving_high"), "380000");
  EXPECT_FALSE(transforms(135).has("H22"));
}

/// Steps of 10,000 µs, in which `times` accesses to a parametrized weight take `each` µs.
Advice parametrized(int times, int each) {
  return advice_of([&](Loop& l) {
    l.frame("train.py(9): main", 10'000);
    for (int i = 0; i < times; ++i) {
      l.frame("train.py(30): forward", each + 10);
      l.frame("torch/nn/utils/parametrize.py(370): get_parametrized", each).op("aten::triu", each);
      l.op("aten::linear", 10);
    }
    l.op("aten::mm", 10'000 - times * (each + 10));
  });
}

// 600 µs are 6 % of the step.
TEST(OwnLines, AParametrizedWeightAtEachAccess) {
  const Advice advice = parametrized(6, 100);
  EXPECT_EQ(
      advice.cell("H23", "title"),
      "600 µs of 10.0 ms per step: a parametrized weight is computed anew at each access, up to 6 times, in "
      "train.py:30 (forward), called by train.py:9 (main)");
  EXPECT_EQ(advice.cell("H23", "saving_low"), "600000");
  EXPECT_EQ(advice.cell("H23", "saving_high"), "2700000");
  EXPECT_FALSE(parametrized(1, 600).has("H23"));  // once per step
  EXPECT_FALSE(parametrized(4, 100).has("H23"));
}

/// Steps of 10,000 µs, of which the loop waits 5,000 for workers: `unpacking` of them in PyTorch's unpacking
/// of `tensors`.
Advice fetched(int unpacking, int tensors) {
  return advice_of([&](Loop& l) {
    l.frame("train.py(9): main", 10'000);
    l.within("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5000);
    l.frame("torch/multiprocessing/reductions.py(541): rebuild_storage_fd", unpacking);
    for (int i = 0; i < tensors; ++i) l.op("aten::set_", 10);
    l.pass(5000 - 10 * tensors).op("aten::mm", 5000);
  });
}

TEST(OwnLines, ABatchOfManyTensors) {
  const Advice advice = fetched(2500, 16);
  EXPECT_EQ(
      advice.cell("I02", "title"),
      "5.00 ms of 10.0 ms per step: the program unpacks one by one the 16 tensors in which the loader's "
      "workers send a batch");
  EXPECT_TRUE(advice.cell("I02", "remedy").starts_with("Let collate_fn join the samples"));
  EXPECT_TRUE(fetched(2400, 16).cell("I02", "remedy").starts_with("More workers"));
  EXPECT_TRUE(fetched(2500, 15).cell("I02", "remedy").starts_with("More workers"));
}

}  // namespace
}  // namespace stepscope::advise
