#include <gtest/gtest.h>

#include "derive/work/conv_shape.h"
#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

// Counts the window's positions one by one.
std::int64_t counted_outputs(const Window& w) {
  std::int64_t count = 0;
  for (std::int64_t left = -w.padding; left + w.dilation * (w.kernel - 1) < w.input + w.padding;
       left += w.stride)
    ++count;
  return count;
}

TEST(ConvShape, OutputAgreesWithTryingEveryPosition) {
  int fitting = 0;
  for (std::int64_t input = 1; input <= 9; ++input)
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel)
      for (std::int64_t stride = 1; stride <= 3; ++stride)
        for (std::int64_t padding = 0; padding <= 2; ++padding)
          for (std::int64_t dilation = 1; dilation <= 2; ++dilation) {
            const Window w{input, kernel, stride, padding, dilation};
            const std::int64_t count = counted_outputs(w);
            fitting += count > 0 ? 1 : 0;
            EXPECT_EQ(window_output(w), count > 0 ? std::optional(count) : std::nullopt);
          }
  EXPECT_GT(fitting, 400);
}

// The convolution is the gradient of the transposed convolution, so the latter must invert the output
// formula.
TEST(ConvShape, TransposedInvertsTheConvolution) {
  for (std::int64_t input = 1; input <= 9; ++input)
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel)
      for (std::int64_t stride = 1; stride <= 3; ++stride)
        for (std::int64_t padding = 0; padding <= 1; ++padding) {
          const Window w{input, kernel, stride, padding, 1};
          const auto out = window_output(w);
          if (!out) continue;
          const std::int64_t lost = (input + 2 * padding - kernel) % stride;
          EXPECT_EQ(transposed_output({*out, kernel, stride, padding, 1}, lost), input);
        }
}

TEST(ConvShape, CeilModeDropsAWindowInThePadding) {
  EXPECT_EQ(window_output_ceil({6, 3, 2, 0, 1}), 3);  // floor gives 2; the last window reaches one too far
  EXPECT_EQ(window_output({6, 3, 2, 0, 1}), 2);
  EXPECT_EQ(window_output_ceil({4, 2, 3, 1, 1}), 2);  // a third window would start at 5, in the right padding
}

TEST(ConvShape, NonsenseIsNothing) {
  EXPECT_FALSE(window_output({8, 3, 0, 0, 1}));
  EXPECT_FALSE(window_output({8, 0, 1, 0, 1}));
  EXPECT_FALSE(window_output({8, 3, 1, -1, 1}));
  EXPECT_FALSE(window_output({2, 5, 1, 0, 1}));
  EXPECT_FALSE(window_output({std::int64_t{1} << 62, 3, 1, 0, 1}));
}

// input [2,4,8,8], weight [6,4,3,3], stride 2, padding 1: output [2,6,4,4], 192 elements.
const char* const kForward = "[[2,4,8,8],[6,4,3,3],[6],[],[],[],[],[],[]]";
const char* const kForwardTypes = "bf;bf;bf;SL;SL;SL;S;SL;S";

TEST(ConvWork, Forward) {
  const Work work = work_of(
      "aten::convolution",
      op(kForward, kForwardTypes, {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"}));
  ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
  EXPECT_EQ(work.matrix_flops, 2 * 192 * 36);
  EXPECT_EQ(work.vector_flops, 192);
  EXPECT_EQ(work.bytes_read, (512 + 216 + 6) * 2);
  EXPECT_EQ(work.bytes_written, 192 * 2);
}

TEST(ConvWork, OneElementListsAndOneDimension) {
  // input [2,4,8], weight [6,4,3], stride 2, padding 1: output [2,6,4]
  const Work work = work_of("aten::convolution",
                            op("[[2,4,8],[6,4,3],[],[],[],[],[],[],[]]", "float;float;-;SL;SL;SL;S;SL;S",
                               {"", "", "", "[2]", "[1]", "[1]", "False", "[0]", "1"}));
  EXPECT_EQ(work.matrix_flops, 2 * 48 * 12);
  // no batch dimension: N = 1
  const Work single =
      work_of("aten::convolution", op("[[4,8],[6,4,3],[],[],[],[],[],[],[]]", "float;float;-;SL;SL;SL;S;SL;S",
                                      {"", "", "", "[2]", "[1]", "[1]", "False", "[0]", "1"}));
  EXPECT_EQ(single.matrix_flops, 2 * 24 * 12);
}

TEST(ConvWork, GroupsAreAlreadyInTheWeight) {
  // depthwise: weight [4,1,3,3], 4 groups, padding 1: output [2,4,8,8]; 2 · 512 · 9
  const Work work =
      work_of("aten::convolution", op("[[2,4,8,8],[4,1,3,3],[],[],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S;SL;S",
                                      {"", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "4"}));
  EXPECT_EQ(work.matrix_flops, 2 * 512 * 9);
}

// Each input element meets each weight of its group once: in [2,4,8,8], weight [4,3,2,2], groups 2.
TEST(ConvWork, Transposed) {
  const OpArgs args = op("[[2,4,8,8],[4,3,2,2],[],[],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S;SL;S",
                         {"", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "2"});
  const Work work = work_of("aten::convolution", args);
  EXPECT_EQ(work.matrix_flops, 2 * 512 * 12);
  EXPECT_EQ(work.bytes_written, 2 * 6 * 16 * 16 * 2);
  // depthwise transposed (DeepSpeed #8323): weight [4,1,2,2], groups 4
  const Work depthwise =
      work_of("aten::convolution", op("[[2,4,8,8],[4,1,2,2],[],[],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S;SL;S",
                                      {"", "", "", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "4"}));
  EXPECT_EQ(depthwise.matrix_flops, 2 * 512 * 4);
}

TEST(ConvWork, LeavesHaveTheirOwnPositions) {
  // cuDNN: padding 2, stride 3, dilation 4
  const Work cudnn =
      work_of("aten::cudnn_convolution", op("[[2,4,8,8],[6,4,3,3],[],[],[],[]]", "bf;bf;SL;SL;SL;S",
                                            {"", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"}));
  EXPECT_EQ(cudnn.matrix_flops, 2 * 192 * 36);
  EXPECT_EQ(cudnn.vector_flops, 0);
  // MIOpen: bias 2, padding 3, stride 4
  const Work miopen =
      work_of("aten::miopen_convolution", op("[[2,4,8,8],[6,4,3,3],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S",
                                             {"", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1"}));
  EXPECT_EQ(miopen.matrix_flops, 2 * 192 * 36);
  // transposed leaf: padding 2, output_padding 3, stride 4, dilation 5, groups 6
  const Work transposed = work_of("aten::cudnn_convolution_transpose",
                                  op("[[2,4,8,8],[4,3,2,2],[],[],[],[],[]]", "bf;bf;SL;SL;SL;SL;S",
                                     {"", "", "[0, 0]", "[0, 0]", "[2, 2]", "[1, 1]", "2"}));
  EXPECT_EQ(transposed.matrix_flops, 2 * 512 * 12);
  EXPECT_EQ(transposed.bytes_written, 2 * 6 * 16 * 16 * 2);
  // bias and relu: 2 per output element
  const Work relu = work_of("aten::cudnn_convolution_relu",
                            op("[[2,4,8,8],[6,4,3,3],[6],[],[],[],[]]", "bf;bf;bf;SL;SL;SL;S",
                               {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"}));
  EXPECT_EQ(relu.vector_flops, 384);
  // kernel size at 2, bias 3, stride 4
  const Work slow =
      work_of("aten::_slow_conv2d_forward", op("[[2,4,8,8],[6,4,3,3],[],[6],[],[]]", "bf;bf;SL;bf;SL;SL",
                                               {"", "", "[3, 3]", "", "[2, 2]", "[1, 1]"}));
  EXPECT_EQ(slow.matrix_flops, 2 * 192 * 36);
  EXPECT_EQ(slow.vector_flops, 192);
}

TEST(ConvWork, PaddingByName) {
  const auto flops = [](const char* padding) {
    return work_of("aten::conv2d", op("[[2,4,8,8],[6,4,3,3],[],[],[],[],[]]", "bf;bf;-;SL;S;SL;S",
                                      {"", "", "", "[1, 1]", padding, "[1, 1]", "1"}))
        .matrix_flops;
  };
  EXPECT_EQ(flops("same"), 2 * 2 * 6 * 64 * 36);
  EXPECT_EQ(flops("valid"), 2 * 2 * 6 * 36 * 36);
  EXPECT_EQ(flops("[0, 0]"), 2 * 2 * 6 * 36 * 36);
}

TEST(ConvWork, WithoutConcreteInputsItNeedsAHint) {
  const OpArgs args = op("[[2,4,8,8],[6,4,3,3],[],[],[],[],[],[],[]]",
                         "float;float;-;GenericList;GenericList;GenericList;Bool;GenericList;Int");
  const Work blind = work_of("aten::convolution", args);
  EXPECT_FALSE(blind.flops_known);
  EXPECT_FALSE(blind.unknown_reason.empty());
  const std::int64_t spatial[] = {4, 4};
  const Work hinted = work_of("aten::convolution", args, Convention::exact, {.output_spatial = spatial});
  ASSERT_TRUE(hinted.flops_known);
  EXPECT_EQ(hinted.matrix_flops, 2 * 192 * 36);
}

OpArgs backward(const char* mask, const char* groups = "1", const char* weight = "[6,4,3,3]",
                const char* transposed = "False") {
  return op(std::string("[[2,6,4,4],[2,4,8,8],") + weight + ",[],[],[],[],[],[],[],[]]",
            "bf;bf;bf;SL;SL;SL;SL;S;SL;S;SL",
            {"", "", "", "[6]", "[2, 2]", "[1, 1]", "[1, 1]", transposed, "[0, 0]", groups, mask});
}

TEST(ConvWork, BackwardObeysTheMask) {
  const std::int64_t f = 2 * 192 * 36;
  const auto check = [&](const char* mask, std::int64_t matrix, std::int64_t vector, std::int64_t bytes) {
    const Work work = work_of("aten::convolution_backward", backward(mask));
    EXPECT_EQ(work.matrix_flops, matrix) << mask;
    EXPECT_EQ(work.vector_flops, vector) << mask;
    EXPECT_EQ(work.bytes(), bytes) << mask;
  };
  // grad 192, input 512, weight 216 elements of 2 bytes
  check("[True, True, True]", 2 * f, 192, 2 * (192 + 216 + 512 + 512 + 216 + 6));
  check("[True, False, False]", f, 0, 2 * (192 + 216 + 512));
  check("[False, True, False]", f, 0, 2 * (192 + 512 + 216));
  check("[False, False, True]", 0, 192, 2 * (192 + 6));
}

TEST(ConvWork, BackwardOfGroupsInTorchsConvention) {
  // groups 2: weight [6,2,3,3]; F = 2 · 192 · 18, torch's weight gradient twice that (pytorch #183405)
  const OpArgs args = backward("[True, True, False]", "2", "[6,2,3,3]");
  EXPECT_EQ(work_of("aten::convolution_backward", args).matrix_flops, 2 * 2 * 192 * 18);
  EXPECT_EQ(work_of("aten::convolution_backward", args, Convention::torch).matrix_flops, 3 * 2 * 192 * 18);
}

TEST(ConvWork, BackwardOfTransposedCountsByTheInput) {
  // input [2,4,8,8], weight [4,3,2,2], groups 2, grad [2,6,16,16]: F = 2 · 512 · 12
  const OpArgs args =
      op("[[2,6,16,16],[2,4,8,8],[4,3,2,2],[],[],[],[],[],[],[],[]]", "bf;bf;bf;SL;SL;SL;SL;S;SL;S;SL",
         {"", "", "", "[0]", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "2", "[True, False, False]"});
  EXPECT_EQ(work_of("aten::convolution_backward", args).matrix_flops, 2 * 512 * 12);
}

TEST(ConvWork, BackwardWithoutAMaskIsEstimated) {
  const OpArgs args =
      op("[[2,6,4,4],[2,4,8,8],[6,4,3,3],[],[],[],[],[],[],[],[]]", "float;float;float;-;-;-;-;S;-;S;-");
  const Work work = work_of("aten::convolution_backward", args);
  EXPECT_EQ(work.matrix_flops, 2 * 2 * 192 * 36);
  EXPECT_TRUE(work.estimated);
}

TEST(ConvWork, LeavesOfTheOldBackward) {
  const OpArgs input = op("[[],[2,6,4,4],[6,4,3,3]]", "GenericList;float;float");
  EXPECT_EQ(work_of("aten::cudnn_convolution_backward_input", input).matrix_flops, 2 * 192 * 36);
  const OpArgs weight = op("[[],[2,6,4,4],[2,4,8,8]]", "GenericList;float;float");
  EXPECT_FALSE(work_of("aten::cudnn_convolution_backward_weight", weight).flops_known);
  const std::int64_t sizes[] = {6, 4, 3, 3};
  const Work hinted =
      work_of("aten::cudnn_convolution_backward_weight", weight, Convention::exact, {.weight_dims = sizes});
  EXPECT_EQ(hinted.matrix_flops, 2 * 192 * 36);
  EXPECT_EQ(hinted.bytes(), (192 + 512 + 216) * 4);
  // without its mask, the parent leaves counting to its leaves
  const OpArgs parent =
      op("[[2,4,8,8],[2,6,4,4],[6,4,3,3],[],[]]", "float;float;float;GenericList;GenericList");
  EXPECT_FALSE(work_of("aten::cudnn_convolution_backward", parent).flops_known);
}

TEST(ConvWork, ContradictingChannelsAreMalformed) {
  const Work work =
      work_of("aten::convolution", op("[[2,5,8,8],[6,4,3,3],[],[],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S;SL;S",
                                      {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"}));
  EXPECT_FALSE(work.flops_known);
  EXPECT_TRUE(work.unknown_reason.starts_with("malformed"));
}

}  // namespace
}  // namespace stepscope::derive
