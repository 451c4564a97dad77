// Work that a program on the CPU does again, and costs that no rule explains.
#include <gtest/gtest.h>

#include "advise/rules/loop_for_test.h"

namespace stepscope::advise {
namespace {

std::string numbered(int number, const char* more = "") {
  return fmt::format(R"("Sequence number": {}{})", number, more);
}

// 300 µs of a step's 1,000 repeat the forward operator inside the node that needs its result.
TEST(Again, ForwardPassRepeatedInTheBackwardPass) {
  const auto checkpointed = [](int again) {
    int number = 0;
    return advice_of([&, again](Loop& l) {
      number += 2;
      l.op("aten::mm", 300, numbered(number));
      l.around("autograd::engine::evaluate_function: MmBackward0", 700, numbered(number));
      l.op("aten::mm", again, numbered(number + 1, R"(, "Fwd thread id": 0)")).pass(700 - again);
    });
  };
  const Advice advice = checkpointed(300);
  EXPECT_EQ(
      advice.cell("K09", "title"),
      "300 µs of 1.00 ms per step repeat the forward pass in the backward pass (activation checkpointing)");
  EXPECT_EQ(advice.cell("K09", "saving_low"), "180000");   // 0.6 × 300
  EXPECT_EQ(advice.cell("K09", "saving_high"), "360000");  // 1.2 × 300
  EXPECT_FALSE(checkpointed(99).has("K09"));
}

// One operator, three losses: two of the three nodes of 200 µs go through it again.
TEST(Again, BackwardForEachLoss) {
  const auto losses = [](int count, bool of_gradients) {
    int number = 0;
    return advice_of([&, count, of_gradients](Loop& l) {
      number += 10;
      l.op("aten::mm", 300, numbered(number));
      for (int i = 0; i < count; ++i)
        l.op("autograd::engine::evaluate_function: MmBackward0", 200, numbered(number));
      if (of_gradients) l.op("autograd::engine::evaluate_function: MulBackward0", 10, numbered(number + 1));
    });
  };
  const Advice advice = losses(3, false);
  EXPECT_EQ(advice.cell("G06", "title"),
            "The backward pass goes through the same operators several times: 400 µs of 900 µs per step are "
            "repeated");
  EXPECT_EQ(advice.cell("G06", "saving_low"), "240000");
  EXPECT_EQ(advice.cell("G06", "saving_high"), "480000");
  EXPECT_FALSE(losses(1, false).has("G06"));
  EXPECT_FALSE(losses(3, true).has("G06"));
}

TEST(Again, BuffersAreBroadcastInEveryForward) {
  const auto broadcast = [](int time, int pieces = 1) {
    return advice_of([=](Loop& l) {
      l.op("DistributedDataParallel.forward", 100);
      for (int i = 0; i < pieces; ++i) l.beside("gloo:broadcast", i * time / pieces, time / pieces);
      l.pass(time).op("aten::mm", 900 - time);
    });
  };
  const Advice advice = broadcast(300);
  EXPECT_EQ(advice.cell("N10", "title"),
            "Every forward pass broadcasts the model's buffers: 300 µs of 1.00 ms per step");
  EXPECT_EQ(advice.cell("N10", "saving_low"), "150000");
  EXPECT_EQ(advice.cell("N10", "saving_high"), "360000");
  EXPECT_FALSE(broadcast(29).has("N10"));
  EXPECT_TRUE(broadcast(360, 8).has("N10"));
  EXPECT_FALSE(broadcast(360, 9).has("N10"));  // the program's own
}

// Without a line, the finding names the call with its sizes: 2 × 250 µs forward, 2 × 100 µs backward.
TEST(Again, WorkByCall) {
  int number = 0;
  const Advice advice = advice_of([&](Loop& l) {
    for (const char* dims : {"[[8, 4]]", "[[8, 4]]", "[[2, 2]]"}) {
      ++number;
      const std::string shape = fmt::format(R"(, "Input Dims": {})", dims);
      l.op("aten::sort", 250, numbered(number, shape.c_str()));
      l.op("autograd::engine::evaluate_function: SortBackward0", 100, numbered(number));
    }
  });
  const std::string title = advice.cell("H10", "title");
  EXPECT_TRUE(
      title.starts_with("700 µs of 1.05 ms per step are 2 × aten::sort of [[8, 4]], forward and backward"))
      << title;
}

// 200 of 1,000 µs are nobody's; with 99, nothing is said.
TEST(OnCpu, OwnCodeThatTheFileDoesNotName) {
  const auto own = [](int time) {
    return advice_of([=](Loop& l) { l.op("aten::mm", 1000 - time).pass(time); });
  };
  EXPECT_EQ(own(200).cell("H16", "title"),
            "200 µs of 1.00 ms per step are the program's own code: the file does not say which");
  EXPECT_EQ(own(200).cell("H16", "saving_high"), "-");
  EXPECT_FALSE(own(99).has("H16"));
}

// Another thread works in the pause, and waits during the operator.
TEST(OnCpu, OwnCodeOfOtherThreads) {
  const Advice advice = advice_of([](Loop& l) {
    l.sampled("queue.py(171): get", 600).op("aten::mm", 600);
    l.sampled("serve.py(30): answer", 400).pass(400);
  });
  EXPECT_EQ(
      advice.cell("H16", "title"),
      "400 µs of 1.00 ms per step are the program's own code: other threads spend 400 µs in serve.py:30 "
      "(answer)");
}

TEST(OnCpu, AnOptimizerOfFewLongOperators) {
  const auto optimizer = [](int count, int length) {
    return advice_of([=](Loop& l) {
      l.op("aten::mm", 1000 - count * length).ops_in("Optimizer.step#SGD.step", count, length);
    });
  };
  EXPECT_EQ(optimizer(2, 100).cell("H17", "title"),
            "The optimizer takes 200 µs of 1.00 ms per step in 2 operators: it rewrites all parameters");
  EXPECT_FALSE(optimizer(2, 49).has("H17"));
  EXPECT_FALSE(optimizer(100, 5).has("H17"));  // H03
}

}  // namespace
}  // namespace stepscope::advise
