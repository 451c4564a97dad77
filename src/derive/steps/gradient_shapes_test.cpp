#include "derive/steps/gradient_shapes.h"

#include <gtest/gtest.h>

#include "make_program.h"

namespace stepscope {
namespace {

constexpr timeline::Interval kAll{0, 1'000'000'000};

/// Two steps of 100 µs: gradients of [50, 4], twice [8, 4] and [4], an embedding of 50 rows that looks up 10
/// in each, and an optimizer whose operators get `updated`, a list for _foreach_add_.
trace::Trace steps(const std::string& updated, const std::string& optimizer_op = "aten::_foreach_add_") {
  test::EventText events;
  for (const int at : {0, 100}) {
    const auto op = [&](int from, const char* name, const std::string& dims, const std::string& types,
                        const std::string& concrete) {
      events.add(
          "cpu_op", name, 5, 5, at + from, 5,
          R"("Input Dims": )" + dims + R"(, "Input type": )" + types + R"(, "Concrete Inputs": )" + concrete);
    };
    op(0, "aten::embedding_dense_backward", "[[10, 4], [2, 5], [], [], []]",
       R"(["float", "long int", "Scalar", "Scalar", "Scalar"])", R"(["", "", "50", "-1", "False"])");
    int from = 10;
    for (const char* dims : {"[[50, 4]]", "[[8, 4]]", "[[8, 4]]", "[[4]]"})
      op(from += 5, "torch::autograd::AccumulateGrad", dims, R"(["float"])", R"([""])");
    events.add("user_annotation", at == 0 ? "ProfilerStep#1" : "ProfilerStep#2", 5, 5, at, 100);
    events.add("user_annotation", "Optimizer.step#SGD.step", 5, 5, at + 50, 40);
    op(60, optimizer_op.c_str(), "[" + updated + ", []]", R"(["TensorList", "Scalar"])", R"(["", "1"])");
  }
  return test::open_events(events.text());
}

TEST(GradientShapes, WhatNoOptimizerReads) {
  const trace::Trace trace = steps("[[50, 4], [4]]");
  const trace::Training of = derive::gradients_by_shape(trace, trace.ranks[0], kAll);
  EXPECT_TRUE(of.seen);
  EXPECT_EQ(of.gradients, 200 + 2 * 32 + 4);
  EXPECT_EQ(of.unread_parameters, 2);
  EXPECT_EQ(of.unread_elements, 64);
  EXPECT_EQ(of.unread_names, "[8, 4]");
}

TEST(GradientShapes, WhatAStepLooksUpOfAnEmbedding) {
  const trace::Trace trace = steps("[[50, 4], [8, 4], [4]]");
  const trace::Training of = derive::gradients_by_shape(trace, trace.ranks[0], kAll);
  EXPECT_EQ(of.unread_parameters, 0);
  ASSERT_EQ(of.embeddings.size(), 1U);
  EXPECT_EQ(of.embeddings[0].name, "an embedding of [50, 4]");
  EXPECT_EQ(of.embeddings[0].rows, 50);
  EXPECT_EQ(of.embeddings[0].touched, 10);
  EXPECT_EQ(of.embeddings[0].elements, 200);
  EXPECT_EQ(of.embeddings[0].bytes, 800);
}

// A flat copy of all parameters, a list that the recorder cut off, a fused operator without its list: what
// the optimizer reads is not known.
TEST(GradientShapes, NothingIsUnreadWhereTheOptimizersTensorsAreNotKnown) {
  std::string cut = "[[50, 4]";
  for (int i = 1; i < 30; ++i) cut += ", [50, 4]";
  for (const trace::Trace& trace : {steps("[[268]]"), steps(cut + "]"), steps("[]", "aten::_fused_adam_")}) {
    const trace::Training of = derive::gradients_by_shape(trace, trace.ranks[0], kAll);
    EXPECT_EQ(of.unread_parameters, 0);
    EXPECT_EQ(of.gradients, 268);
  }
}

TEST(GradientShapes, WithoutShapesNothingIsSeen) {
  test::EventText events;
  events.add("cpu_op", "torch::autograd::AccumulateGrad", 5, 5, 0, 5);
  events.add("user_annotation", "Optimizer.step#SGD.step", 5, 5, 50, 40);
  const trace::Trace trace = test::open_events(events.text());
  EXPECT_FALSE(derive::gradients_by_shape(trace, trace.ranks[0], kAll).seen);
}

}  // namespace
}  // namespace stepscope
