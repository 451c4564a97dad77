// One hand-made op per row of the normalisation and loss tables.
#include <gtest/gtest.h>

#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

// x [2,3,4]: n = 24, C = 4, R = 6
TEST(NormWork, LayerNorm) {
  const OpArgs args = op("[[2,3,4],[],[4],[4],[]]", "bf;SL;bf;bf;S", {"", "[4]", "", "", "1e-5"});
  // 5·24 + 6·4; x, γ, β; y and 2·6 statistics of 4 bytes
  expect_vector_work("aten::native_layer_norm", args, 144, 48 + 16, 48 + 48);
  // no γ, no β
  expect_vector_work("aten::native_layer_norm",
                     op("[[2,3,4],[],[],[],[]]", "bf;SL;-;-;S", {"", "[4]", "", "", "1e-5"}), 144, 48, 96);
  EXPECT_EQ(work_role("aten::layer_norm"), WorkRole::composite);
}

TEST(NormWork, LayerNormBackward) {
  const auto args = [](const char* mask) {
    return op("[[2,3,4],[2,3,4],[],[2,3,1],[2,3,1],[4],[4],[]]", "bf;bf;SL;float;float;bf;bf;SL",
              {"", "", "[4]", "", "", "", "", mask});
  };
  // 9·24; grad, x, statistics, γ; dx, dγ, dβ
  expect_vector_work("aten::native_layer_norm_backward", args("[True, True, True]"), 216, 96 + 48 + 8,
                     48 + 16);
  expect_vector_work("aten::native_layer_norm_backward", args("[False, True, True]"), 96, 152, 16);
}

// x [2,3,5]: n = 30, C = 3
TEST(NormWork, BatchNormByMode) {
  const auto args = [](const char* training) {
    return op("[[2,3,5],[3],[3],[3],[3],[],[],[]]", "bf;bf;bf;float;float;S;S;S",
              {"", "", "", "", "", training, "0.1", "1e-5"});
  };
  // 5·30 + 6·3; running statistics are read and written
  expect_vector_work("aten::native_batch_norm", args("True"), 168, 60 + 12 + 24, 60 + 24);
  // "False" is read as false: 2·30 + 6·3
  expect_vector_work("aten::cudnn_batch_norm", args("False"), 78, 96, 60);
  const Work old = work_of("aten::cudnn_batch_norm", op("[[2,3,5],[3],[3],[3],[3],[],[],[]]",
                                                        "float;float;float;float;float;Bool;Double;Double"));
  EXPECT_EQ(old.vector_flops, 168);
  EXPECT_TRUE(old.estimated);
}

TEST(NormWork, BatchNormBackwardKnowsWhereXStands) {
  // x is argument 1 for native and 0 for cuDNN; its type differs from grad's
  const OpArgs native =
      op("[[2,3,5],[2,3,5],[3],[3],[3],[3],[3],[],[],[]]", "bf;float;bf;bf;bf;float;float;S;S;SL",
         {"", "", "", "", "", "", "", "True", "1e-5", "[True, True, True]"});
  // 9·30; grad 60, x 120, γ 6, deviation 12; dx in x's type 120, dγ, dβ 12 each
  expect_vector_work("aten::native_batch_norm_backward", native, 270, 60 + 120 + 6 + 12, 120 + 24);
  const OpArgs cudnn =
      op("[[2,3,5],[2,3,5],[3],[3],[3],[3],[3],[],[]]", "float;bf;float;float;float;float;float;S;bf",
         {"", "", "", "", "", "", "", "1e-5", ""});
  expect_vector_work("aten::cudnn_batch_norm_backward", cudnn, 270, 120 + 60 + 12 + 12, 120 + 24);
}

TEST(NormWork, GroupAndRmsNorm) {
  // n = 40, C = 4, N·groups = 4: 5·40 + 6·4; statistics 2·4·4
  expect_vector_work(
      "aten::native_group_norm",
      op("[[2,4,5],[4],[4],[],[],[],[],[]]", "bf;bf;bf;S;S;S;S;S", {"", "", "", "2", "4", "5", "2", "1e-5"}),
      224, 80 + 16, 80 + 32);
  expect_vector_work("aten::native_group_norm_backward",
                     op("[[2,4,5],[2,4,5],[2,2],[2,2],[4],[],[],[],[],[]]", "bf;bf;float;float;bf;S;S;S;S;SL",
                        {"", "", "", "", "", "2", "4", "5", "2", "[True, True, True]"}),
                     360, 160 + 32 + 8, 80 + 16);
  // n = 24, R = 6: 3·24 + 2·6, + 24 with γ; R·4
  expect_vector_work("aten::_fused_rms_norm",
                     op("[[2,3,4],[],[4],[]]", "bf;SL;bf;S", {"", "[4]", "", "1e-6"}), 108, 56, 72);
  expect_vector_work("aten::_fused_rms_norm", op("[[2,3,4],[],[],[]]", "bf;SL;-;S", {"", "[4]", "", "1e-6"}),
                     84, 48, 72);
  expect_vector_work("aten::_fused_rms_norm_backward",
                     op("[[2,3,4],[2,3,4],[],[2,3,1],[4],[]]", "bf;bf;SL;float;bf;SL",
                        {"", "", "[4]", "", "", "[True, True]"}),
                     216, 96 + 24 + 8, 48 + 8);
}

TEST(NormWork, SyncBatchNorm) {
  expect_vector_work("aten::batch_norm_stats", op("[[2,3,5],[]]", "float;S"), 90, 120, 24);
  expect_vector_work("aten::batch_norm_elemt",
                     op("[[2,3,5],[3],[3],[3],[3],[]]", "float;float;float;float;float;S"), 60, 120 + 48,
                     120);
  expect_vector_work("aten::batch_norm_backward_reduce",
                     op("[[2,3,5],[2,3,5],[3],[3],[3],[],[],[]]", "float;float;float;float;float;S;S;S"), 120,
                     240 + 36, 48);
  expect_vector_work("aten::batch_norm_backward_elemt",
                     op("[[2,3,5],[2,3,5],[3],[3],[3],[3],[3]]", "float;float;float;float;float;float;float"),
                     150, 240 + 60, 120);
}

TEST(LossWork, SoftmaxAndItsGradient) {
  expect_vector_work("aten::_softmax", op("[[4,5],[],[]]", "half;S;S", {"", "-1", "False"}), 100, 40, 40);
  expect_vector_work("aten::_log_softmax", op("[[4,5],[],[]]", "half;S;S", {"", "-1", "True"}), 100, 40,
                     80);  // half_to_float
  expect_vector_work("aten::_softmax_backward_data",
                     op("[[4,5],[4,5],[],[]]", "float;float;S;S", {"", "", "-1", "5"}), 80, 160, 40);
  expect_vector_work("aten::_log_softmax_backward_data",
                     op("[[4,5],[4,5],[],[4,5]]", "float;float;Int;float"), 80, 160, 80);
}

TEST(LossWork, OnlyTheTargetsAreTouched) {
  // 32 rows of 1000 classes
  expect_vector_work("aten::nll_loss_forward", op("[[32,1000],[32],[],[],[]]", "float;long int;-;S;S"), 32,
                     256 + 128, 8);
  expect_vector_work("aten::nll_loss_backward",
                     op("[[],[32,1000],[32],[],[],[],[]]", "float;float;long int;-;S;S;float"), 32, 256 + 4,
                     128);
}

TEST(LossWork, DropoutWritesAMaskOfBytes) {
  expect_vector_work("aten::native_dropout", op("[[4,5],[],[]]", "bf;S;S", {"", "0.1", "True"}), 40, 40, 60);
  expect_vector_work("aten::native_dropout_backward", op("[[4,5],[4,5],[]]", "bf;bool;S", {"", "", "1.1"}),
                     40, 60, 40);
}

}  // namespace
}  // namespace stepscope::derive
