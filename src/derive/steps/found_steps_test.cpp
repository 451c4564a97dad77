#include <gtest/gtest.h>

#include "make_program.h"

namespace stepscope {
namespace {

using test::EventText;

std::vector<std::pair<std::int64_t, std::int64_t>> found_in(const EventText& events, std::string& border,
                                                            const std::string& head = "") {
  const trace::Trace trace =
      test::open_json("{\"schemaVersion\": 1, " + head + "\"traceEvents\": [" + events.text() + "]}");
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  border = trace.ranks[0].step_border;
  for (const trace::Step& step : trace.ranks[0].steps)
    if (step.found) spans.emplace_back(step.start / 1000, step.end / 1000);
  return spans;
}
using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Forward [0,10), backward [10,30), the optimizer [30,40), of each 50 µs.
void train(EventText& events, int begin, const std::string& optimizer = "Optimizer.step#SGD.step") {
  events.add("cpu_op", "aten::mm", 5, 5, begin, 10);
  events.add("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 5, 5, begin + 10, 20);
  events.add("user_annotation", optimizer, 5, 5, begin + 30, 10);
}

TEST(FoundSteps, FromOneOptimizerStepToTheNext) {
  EventText events;
  for (int i = 0; i < 4; ++i) train(events, 1000 + 50 * i);
  std::string border;
  EXPECT_EQ(found_in(events, border), (Spans{{1040, 1090}, {1090, 1140}, {1140, 1190}}));
  EXPECT_EQ(border, "Optimizer.step#SGD.step");
}

// Without a backward pass between them, two optimizers step together.
TEST(FoundSteps, TwoOptimizersOfOnePass) {
  EventText events;
  for (int i = 0; i < 4; ++i) {
    train(events, 50 * i);
    events.add("user_annotation", "Optimizer.step#Adam.step", 5, 5, 50 * i + 42, 6);
  }
  std::string border;
  EXPECT_EQ(found_in(events, border), (Spans{{48, 98}, {98, 148}, {148, 198}}));
}

// Two passes and two optimizer steps for each batch that is loaded.
TEST(FoundSteps, TwoPassesOfOneBatch) {
  EventText events;
  for (int i = 0; i < 4; ++i) {
    events.add("user_annotation", "enumerate(DataLoader)#X.__next__", 5, 5, 120 * i, 10);
    train(events, 120 * i + 20);
    train(events, 120 * i + 70);
  }
  std::string border;
  EXPECT_EQ(found_in(events, border), (Spans{{110, 230}, {230, 350}, {350, 470}}));
}

// Three steps are too few to be sure of a repetition; a device's program marks its steps or has none.
TEST(FoundSteps, NoneInShortProgramsNorInTheLayersOfOneStepOnADevice) {
  EventText few, layers;
  for (int i = 0; i < 3; ++i) train(few, 50 * i);
  for (int i = 0; i < 8; ++i) layers.add("cpu_op", "aten::conv2d", 5, 5, 50 * i, 40);
  std::string border;
  EXPECT_EQ(found_in(few, border), Spans{});
  EXPECT_EQ(found_in(layers, border).size(), 7U);
  layers.add("cuda_runtime", "cudaLaunchKernel", 5, 5, 402, 1);
  EXPECT_EQ(found_in(layers, border), Spans{});
  EXPECT_EQ(border, "");
}

TEST(FoundSteps, OfAWholeProgramOnADevice) {
  EventText tokens;
  for (int i = 0; i < 8; ++i) {
    for (int layer = 0; layer < 4; ++layer)
      tokens.add("cpu_op", "aten::mm", 5, 5, 1000 + 50 * i + 10 * layer, 8);
    tokens.add("cpu_op", "aten::argmax", 5, 5, 1000 + 50 * i + 42, 5);
    tokens.add("cuda_runtime", "cudaLaunchKernel", 5, 5, 1000 + 50 * i + 43, 1);
  }
  std::string border;
  EXPECT_EQ(found_in(tokens, border), Spans{});
  EXPECT_EQ(found_in(tokens, border, "\"wholeProgram\": true, ").size(), 7U);
  EXPECT_EQ(border, "aten::argmax");
}

TEST(FoundSteps, OfTrainingOnADevice) {
  EventText events;
  for (int i = 0; i < 5; ++i) train(events, 50 * i);
  events.add("cuda_runtime", "cudaLaunchKernel", 5, 5, 402, 1);
  std::string border;
  EXPECT_EQ(found_in(events, border), (Spans{{40, 90}, {90, 140}, {140, 190}, {190, 240}}));
  EXPECT_EQ(border, "Optimizer.step#SGD.step");
}

// 4 steps of training in 200 µs, then 10 batches of inference in 400 µs.
TEST(FoundSteps, OfWhatTakesLongerThanTraining) {
  EventText events;
  for (int i = 0; i < 4; ++i) train(events, 50 * i);
  for (int i = 0; i < 10; ++i) {
    events.add("cpu_op", "aten::mm", 5, 5, 200 + 40 * i, 30);
    events.add("cpu_op", "aten::argmax", 5, 5, 230 + 40 * i, 3);
  }
  std::string border;
  const Spans spans = found_in(events, border);
  ASSERT_EQ(spans.size(), 9);
  EXPECT_EQ(spans.front(), (std::pair<std::int64_t, std::int64_t>{230, 270}));
  EXPECT_EQ(border, "aten::argmax");
}

// 3 marked steps in 30 of 800 µs: the first of several optimizers made them.
TEST(FoundSteps, OfAProgramThatMarksFewOfThem) {
  EventText events;
  for (int i = 0; i < 3; ++i)
    events.add("user_annotation", "ProfilerStep#" + std::to_string(i), 5, 5, 10 * i, 10);
  for (int i = 0; i < 20; ++i) events.add("cpu_op", "aten::mm", 5, 5, 30 + 40 * i, 30);
  std::string border;
  EXPECT_EQ(found_in(events, border).size(), 19);
  EXPECT_EQ(border, "aten::mm");
}

// The first step takes 500 µs, as it imports something; the marks begin after it.
TEST(FoundSteps, AreNotThoseThatAreMarkedAndTheFirst) {
  EventText events;
  for (int i = 0; i < 4; ++i)
    events.add("user_annotation", "Optimizer.step#SGD.step", 5, 5, i == 0 ? 0 : 490 + 10 * i,
               i == 0 ? 500 : 10);
  for (int i = 1; i < 4; ++i)
    events.add("user_annotation", "ProfilerStep#" + std::to_string(i), 5, 5, 490 + 10 * i, 10);
  std::string border;
  EXPECT_EQ(found_in(events, border), Spans{});
  EXPECT_EQ(border, "");
}

// Inference: aten::argmax comes once a round, aten::mm twice; aten::uniform_ only at the start.
TEST(FoundSteps, OfARepeatedOperator) {
  EventText events;
  for (int i = 0; i < 6; ++i) events.add("cpu_op", "aten::uniform_", 5, 5, 4 * i, 2);
  for (int i = 0; i < 5; ++i) {
    events.add("cpu_op", "aten::mm", 5, 5, 100 + 40 * i, 10);
    events.add("cpu_op", "aten::mm", 5, 5, 115 + 40 * i, 10);
    events.add("cpu_op", "aten::argmax", 5, 5, 130 + 40 * i, 3);
  }
  std::string border;
  EXPECT_EQ(found_in(events, border), (Spans{{130, 170}, {170, 210}, {210, 250}, {250, 290}}));
  EXPECT_EQ(border, "aten::argmax");
}

}  // namespace
}  // namespace stepscope
