// Element-wise ops, copies, reductions. The arithmetic is beside each.
#include <gtest/gtest.h>

#include "derive/work/families.h"
#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

TEST(ElementwiseWork, BroadcastsFromTheRight) {
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Sizes{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {3}), (Sizes{3}));
  EXPECT_EQ(broadcast({0}, {1}), (Sizes{0}));
  EXPECT_FALSE(broadcast({2}, {3}));
  expect_vector_work("aten::mul", op("[[2,3,4],[3,1]]", "bf;bf"), 24, 48 + 6, 48);
  EXPECT_FALSE(work_of("aten::mul", op("[[2],[3]]", "bf;bf")).flops_known);
}

TEST(ElementwiseWork, NumbersNeitherPromoteNorCount) {
  expect_vector_work("aten::mul", op("[[2,3],[]]", "float;double"), 6, 24, 24);
  expect_vector_work("aten::add", op("[[2,3],[],[]]", "bf;S;S", {"", "1", "1"}), 6, 12, 12);
  // an integer tensor and a floating number make a float tensor
  expect_vector_work("aten::mul", op("[[2,3],[]]", "int;double"), 6, 24, 24);
  expect_vector_work("aten::mul", op("[[2,3],[]]", "long int;double"), 6, 48, 24);
  // if neither has dimensions, both count: 3 · 8 bytes
  expect_vector_work("aten::add_", op("[[],[],[]]", "long int;long int;S", {"", "", "1"}), 1, 16, 8);
}

TEST(ElementwiseWork, TypesOfTheOutput) {
  expect_vector_work("aten::add", op("[[6],[6]]", "bf;float"), 6, 12 + 24, 24);
  expect_vector_work("aten::add_", op("[[6],[6],[]]", "bf;float;S"), 6, 36, 12);     // in place: argument 0
  expect_vector_work("aten::gt", op("[[6],[6]]", "float;float"), 6, 48, 6);          // bool
  expect_vector_work("aten::div", op("[[6],[6]]", "long int;long int"), 6, 96, 24);  // true division
  expect_vector_work("aten::exp", op("[[6]]", "int"), 6, 24, 24);
  expect_vector_work("aten::neg", op("[[6]]", "int"), 6, 24, 24);
  expect_vector_work("aten::mul", op("[[6],[],[6]]", "bf;double;float"), 6, 12, 24);  // explicit output
}

TEST(ElementwiseWork, ExpandedOperandsAreReadOnce) {
  // sizes (10,512,7,7), strides (512,1,0,0): 5120 elements read, 250880 written
  expect_vector_work("aten::div", op("[[10,512,7,7],[]]", "bf;S", {"", "49"}, "[[512,1,0,0],[]]"), 250880,
                     10240, 501760);
}

TEST(ElementwiseWork, FlopsPerElement) {
  expect_vector_work("aten::addcmul_", op("[[6],[6],[6],[]]", "float;float;float;S"), 12, 72, 24);
  expect_vector_work("aten::lerp", op("[[6],[6],[]]", "float;float;S"), 12, 48, 24);
  expect_vector_work("aten::sigmoid", op("[[6]]", "float"), 6, 24, 24);
  expect_vector_work("aten::where", op("[[6],[6],[6]]", "bool;float;float"), 0, 54, 24);
  expect_vector_work("aten::masked_fill_", op("[[2,3],[2,1],[]]", "bf;bool;S"), 0, 14, 12);
  expect_vector_work("aten::clamp", op("[[6],[],[]]", "float;S;S"), 6, 24, 24);
}

TEST(ElementwiseWork, CopiesAndFillsDoNoArithmetic) {
  expect_vector_work("aten::copy_", op("[[6],[6],[]]", "float;bf;S", {"", "", "False"}), 0, 12, 24);
  expect_vector_work("aten::clone", op("[[6],[]]", "float;S"), 0, 24, 24);
  expect_vector_work(
      "aten::_to_copy",
      op("[[6],[],[],[],[],[],[]]", "long int;S;-;-;-;S;-", {"", "6", "", "", "", "False", ""}), 0, 48, 24);
  expect_vector_work("aten::fill_", op("[[6],[]]", "float;S"), 0, 0, 24);
  expect_vector_work("aten::zero_", op("[[6]]", "bf"), 0, 0, 12);
  expect_vector_work("aten::view", op("[[6],[]]", "float;SL"), 0, 0, 0);
  EXPECT_EQ(work_role("aten::view"), WorkRole::none);
  EXPECT_EQ(work_role("aten::contiguous"), WorkRole::composite);
}

TEST(ElementwiseWork, UnknownTypeLeavesTheFlops) {
  const Work work = work_of("aten::mul", op("[[6],[6]]", "c10::Mystery;c10::Mystery"));
  EXPECT_TRUE(work.flops_known);
  EXPECT_FALSE(work.bytes_known);
  EXPECT_FALSE(work.unknown_reason.empty());
}

TEST(ElementwiseWork, UnknownOpsHaveNone) {
  EXPECT_FALSE(work_of("aten::nobody_knows", op("[[2]]", "float")).flops_known);
}

TEST(ReduceWork, OutputFollowsTheRecordedDims) {
  const char* const dims = "[[2,3,4],[],[],[]]";
  // the last dimension goes: 6 remain
  expect_vector_work("aten::mean", op(dims, "float;SL;S;-", {"", "[-1]", "True", ""}), 24, 96, 24);
  expect_vector_work("aten::sum", op(dims, "bf;SL;S;-", {"", "[0, 2]", "False", ""}), 24, 48, 6);
  expect_vector_work("aten::sum", op(dims, "bf;SL;S;-", {"", "[]", "False", ""}), 24, 48, 2);
  expect_vector_work("aten::sum", op(dims, "bf;SL;S;S", {"", "[1]", "False", "6"}), 24, 48,
                     32);                                                             // dtype float
  expect_vector_work("aten::sum", op("[[2,3,4],[]]", "int;-", {"", ""}), 24, 96, 8);  // integers widen
  expect_vector_work("aten::sum", op("[[2,3,4],[]]", "bf;S", {"", "6"}), 24, 48, 4);
  expect_vector_work("aten::all", op("[[2,3,4]]", "bool", {""}), 24, 24, 1);
  expect_vector_work("aten::argmax", op("[[2,3,4],[],[]]", "float;S;S", {"", "-1", "False"}), 24, 96, 48);
  expect_vector_work("aten::max", op("[[2,3,4]]", "float", {""}), 24, 96, 4);
  expect_vector_work("aten::max", op("[[2,3,4],[],[]]", "float;S;S", {"", "0", "False"}), 24, 96, 12 * 12);
  expect_vector_work("aten::max", op("[[2,3],[3]]", "float;float", {"", ""}), 6, 36, 24);  // of two tensors
  expect_vector_work("aten::amax", op("[[2,3,4],[],[]]", "float;SL;S", {"", "[0]", "False"}), 24, 96, 48);
}

TEST(ReduceWork, NormsAndVariancesAreTwoPerElement) {
  expect_vector_work("aten::linalg_vector_norm",
                     op("[[2,3,4],[],[],[],[]]", "float;S;SL;S;-", {"", "2", "[2]", "False", ""}), 48, 96,
                     24);
  expect_vector_work("aten::norm", op("[[2,3,4],[]]", "float;S", {"", "2"}), 48, 96, 4);
  expect_vector_work("aten::var", op("[[2,3,4],[],[],[]]", "float;SL;S;S", {"", "[1]", "1", "False"}), 48, 96,
                     32);
  expect_vector_work("aten::std", op("[[2,3,4],[]]", "float;S", {"", "True"}), 48, 96, 4);
}

TEST(ReduceWork, UnrecordedOrImpossibleDims) {
  const Work blind = work_of("aten::sum", op("[[2,3,4],[],[],[]]", "float;-;Bool;-"));
  EXPECT_EQ(blind.vector_flops, 24);
  EXPECT_FALSE(blind.bytes_known);
  EXPECT_FALSE(
      work_of("aten::sum", op("[[2,3,4],[],[],[]]", "float;SL;S;-", {"", "[7]", "False", ""})).flops_known);
}

TEST(ReduceWork, ScansAndSelections) {
  expect_vector_work("aten::cumsum", op("[[2,4],[],[]]", "int;S;-", {"", "0", ""}), 8, 32, 64);
  expect_vector_work("aten::sort", op("[[8],[],[]]", "float;S;S", {"", "-1", "False"}), 24, 32,
                     96);  // 8·log2(8)
  expect_vector_work("aten::topk",
                     op("[[2,8],[],[],[],[]]", "float;S;S;S;S", {"", "3", "-1", "True", "True"}), 16, 64,
                     6 * 12);
}

}  // namespace
}  // namespace stepscope::derive
