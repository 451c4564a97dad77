// Which tensors grow with the batch and the sequence, judged by the shapes of a few operators.
#include "derive/growth/tensor_degrees.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "make_rank.h"

namespace stepscope::derive {
namespace {

struct Called {
  const char* name;
  std::vector<Dims> inputs;
};

trace::Trace trace_of(const std::vector<Called>& calls) {
  std::string events;
  int at = 0;
  for (const Called& call : calls)
    events += fmt::format(
        R"J({}{{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 5, "tid": 5, "ts": {}, "dur": 5, "args": {{"Input Dims": {}, "Input type": {}}}}})J",
        events.empty() ? "" : ",", call.name, at += 10, call.inputs,
        std::vector<std::string>(call.inputs.size(), "float"));
  return test::open_events(events);
}

std::string degree_of(const TensorDegrees& degrees, const Dims& dims) {
  const DegreeRange of = degrees.of(dims);
  const auto text = [](Degree degree) { return fmt::format("b{}s{}", degree.batch, degree.sequence); };
  return of.low == of.high ? text(of.low) : text(of.low) + " to " + text(of.high);
}

// Batches of 3 sequences of 7, 4 heads of 5, a width of 20.
TEST(TensorDegrees, DimensionsThatTheBatchAndTheSequenceAreIn) {
  const trace::Trace trace = trace_of({{"aten::addmm", {{60}, {21, 20}, {20, 60}}},
                                       {"aten::add", {{3, 7, 20}, {3, 7, 20}}},
                                       {"aten::softmax", {{3, 4, 7, 7}}},
                                       {"aten::bmm", {{12, 7, 5}, {12, 5, 7}}},
                                       {"torch::autograd::AccumulateGrad", {{60, 20}}},
                                       {"torch::autograd::AccumulateGrad", {{60}}}});
  const TensorDegrees degrees(trace, trace.ranks[0], {3, 7});
  EXPECT_EQ(degree_of(degrees, {3, 7, 20}), "b1s1");
  EXPECT_EQ(degree_of(degrees, {21, 60}), "b1s1");
  EXPECT_EQ(degree_of(degrees, {12, 7, 5}), "b1s1");
  EXPECT_EQ(degree_of(degrees, {12, 7, 7}), "b1s2");
  EXPECT_EQ(degree_of(degrees, {60, 20}), "b0s0");  // though 60 = 3 · 20
  EXPECT_EQ(degree_of(degrees, {20, 60}), "b0s0");
  EXPECT_EQ(degree_of(degrees, {3, 3}), "b2s0");  // each sample against each other
  EXPECT_EQ(degree_of(degrees, {7, 20}), "b0s1");
  EXPECT_EQ(degree_of(degrees, {}), "b0s0");
}

// Batches of 4 sequences of 5 are 20 rows, which is also the width.
TEST(TensorDegrees, RowsThatAreAlsoAWidthAreOpen) {
  const trace::Trace trace = trace_of({{"aten::addmm", {{20}, {20, 20}, {20, 20}}},
                                       {"aten::add", {{4, 5, 20}, {4, 5, 20}}},
                                       {"torch::autograd::AccumulateGrad", {{20, 20}}}});
  const TensorDegrees degrees(trace, trace.ranks[0], {4, 0});
  EXPECT_EQ(degree_of(degrees, {4, 5, 20}), "b1s0");
  EXPECT_EQ(degree_of(degrees, {20, 20}), "b0s0 to b1s0");
  EXPECT_EQ(degree_of(degrees, {20}), "b0s0");
}

// Heads as long as the sequence: [2, 3, 6, 6] may be scores or queries.
TEST(TensorDegrees, TwoEqualLastDimensionsMayBeTheSequenceOnce) {
  const trace::Trace trace =
      trace_of({{"aten::softmax", {{2, 3, 6, 6}}}, {"aten::add", {{2, 6, 18}, {2, 6, 18}}}});
  const TensorDegrees degrees(trace, trace.ranks[0], {2, 6});
  EXPECT_EQ(degree_of(degrees, {2, 3, 6, 6}), "b1s1 to b1s2");
}

TEST(TensorDegrees, LikelyBatch) {
  const trace::Trace trace = trace_of({{"aten::add", {{3, 7, 20}, {3, 7, 20}}},
                                       {"aten::bmm", {{12, 7, 5}, {12, 5, 7}}},
                                       {"aten::mul", {{2, 2}}},
                                       {"aten::addmm", {{60}, {21, 20}, {20, 60}}}});
  EXPECT_EQ(likely_batch(trace, trace.ranks[0]), 3);
}

// Queries, keys and values of a batch of 12 in one tensor.
TEST(TensorDegrees, LikelyBatchBesideStackedTensors) {
  const trace::Trace trace = trace_of({{"aten::add", {{12, 7, 20}, {12, 7, 20}}},
                                       {"aten::select", {{3, 12, 5, 7, 4}}},
                                       {"aten::bmm", {{60, 7, 4}, {60, 4, 7}}}});
  EXPECT_EQ(likely_batch(trace, trace.ranks[0]), 12);
}

TEST(TensorDegrees, HugeAndEmptyShapes) {
  const trace::Trace trace =
      trace_of({{"aten::add", {{2, 4611686018427387904, 8}}}, {"aten::mul", {{2, 0}}}});
  const TensorDegrees degrees(trace, trace.ranks[0], {2, 0});
  EXPECT_EQ(degree_of(degrees, {2, 0}), "b1s0");
}

}  // namespace
}  // namespace stepscope::derive
