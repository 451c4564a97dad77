// Lookups, pooling, recurrent layers, optimizers. The arithmetic is beside each.
#include <gtest/gtest.h>

#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

void expect(std::string_view name, const OpArgs& args, std::int64_t flops, std::int64_t bytes,
            const WorkHints& hints = {}) {
  const Work work = work_of(name, args, Convention::exact, hints);
  SCOPED_TRACE(name);
  ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
  EXPECT_EQ(work.flops(), flops);
  EXPECT_EQ(work.bytes(), bytes);
}

TEST(DataMovementWork, Lookups) {
  // 6 indices, D = 4, bf16: 6·8 + 2·6·4·2
  expect("aten::embedding",
         op("[[100,4],[2,3],[],[],[]]", "bf;long int;S;S;S", {"", "", "-1", "False", "False"}), 0, 48 + 96);
  // grad 24·2, idx 6·8, table 100·4·2
  expect("aten::embedding_dense_backward",
         op("[[2,3,4],[2,3],[],[],[]]", "bf;long int;S;S;S", {"", "", "100", "-1", "False"}), 24,
         48 + 48 + 800);
  // 6·8 + 6·4·4 + 2 bags·4·4
  expect("aten::_embedding_bag", op("[[100,4],[6],[2]]", "float;long int;long int"), 24, 48 + 96 + 32);
  // index 3 of dimension 0: 3·8 + 2·3·4·4
  expect("aten::index_select", op("[[9,4],[],[3]]", "float;S;long int", {"", "0", ""}), 0, 24 + 96);
  expect("aten::gather", op("[[9,4],[],[3,4]]", "float;S;long int", {"", "0", ""}), 0, 96 + 96);
  const Work index = work_of("aten::index", op("[[9,4],[]]", "float;-"));
  EXPECT_TRUE(index.flops_known);
  EXPECT_FALSE(index.bytes_known);
}

TEST(DataMovementWork, ScattersAddOrReplace) {
  // index 12·8, src 12 elements: 2 or 3 times 48
  expect("aten::scatter_", op("[[9,4],[],[3,4],[3,4]]", "float;S;long int;float", {"", "0", "", ""}), 0,
         96 + 96);
  expect("aten::scatter_add_", op("[[9,4],[],[3,4],[3,4]]", "float;S;long int;float", {"", "0", "", ""}), 12,
         96 + 144);
  expect("aten::index_copy_", op("[[9,4],[],[3],[3,4]]", "float;S;long int;float", {"", "0", "", ""}), 0,
         24 + 96);
  expect("aten::index_add_",
         op("[[9,4],[],[3],[3,4],[]]", "float;S;long int;float;S", {"", "0", "", "", "1"}), 12, 24 + 144);
  const Work put =
      work_of("aten::index_put_", op("[[9,4],[],[3,4],[]]", "float;-;float;S", {"", "", "", "True"}));
  EXPECT_EQ(put.vector_flops, 12);
  EXPECT_EQ(put.bytes(), 144);
  EXPECT_TRUE(put.estimated);
}

TEST(DataMovementWork, ConcatenationNeedsItsList) {
  const OpArgs recorded = op("[[[2,3],[4,3]],[]]", "TL;S", {"", "0"});
  EXPECT_FALSE(work_of("aten::cat", recorded).bytes_known);  // the element type is not in "TensorList"
  expect("aten::cat", recorded, 0, 2 * 18 * 2, {.list_dtype = DType::bfloat16});
  EXPECT_FALSE(work_of("aten::cat", op("[[],[]]", "TL;S", {"", "0"})).bytes_known);
  expect("aten::cat", op("[[],[],[6,3]]", "TL;S;float", {"", "0", ""}), 0, 2 * 18 * 4);
}

TEST(PoolWork, Pooling) {
  // 10×64×112×112, window 3, stride 2, padding 1: 56×56
  const std::int64_t out = 10 * 64 * 56 * 56;
  expect("aten::max_pool2d_with_indices",
         op("[[10,64,112,112],[],[],[],[],[]]", "bf;SL;SL;SL;SL;S",
            {"", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"}),
         out * 9, out * 4 * 2 + out * 10);
  expect("aten::max_pool2d_with_indices_backward",
         op("[[10,64,56,56],[10,64,112,112],[],[],[],[],[],[10,64,56,56]]", "bf;bf;SL;SL;SL;SL;S;long int"),
         out, out * 2 + out * 8 + out * 8);
  // an empty stride equals the window: 4×4 of 8×8, no overlap
  expect("aten::avg_pool2d",
         op("[[1,2,8,8],[],[],[],[]]", "float;SL;SL;SL;S", {"", "[2, 2]", "[]", "[0, 0]", "False"}), 128,
         128 * 4 + 32 * 4);
  // stride 1 overlaps: 7×7 outputs of 4
  expect("aten::avg_pool2d",
         op("[[1,2,8,8],[],[],[],[]]", "float;SL;SL;SL;S", {"", "[2, 2]", "[1, 1]", "[0, 0]", "False"}),
         98 * 4, 128 * 4 + 98 * 4);
  expect("aten::_adaptive_avg_pool2d", op("[[1,2,8,8],[]]", "float;SL", {"", "[1, 1]"}), 128,
         128 * 4 + 2 * 4);
  EXPECT_FALSE(
      work_of("aten::max_pool2d_with_indices", op("[[1,2,8,8],[],[],[],[],[]]", "float;-;-;-;-;Bool"))
          .flops_known);
}

TEST(PoolWork, Interpolation) {
  expect("aten::upsample_nearest2d", op("[[1,2,4,4],[],[],[]]", "float;SL;S;S", {"", "[8, 8]", "2.", "2."}),
         0, 128 + 512);
  expect("aten::upsample_bilinear2d",
         op("[[1,2,4,4],[],[],[]]", "float;SL;S;SL", {"", "", "False", "[2., 1.5]"}), 7 * 2 * 8 * 6,
         128 + 96 * 4);
  expect("aten::upsample_bicubic2d",
         op("[[1,2,4,4],[],[],[],[]]", "float;SL;S;S;S", {"", "[8, 8]", "False", "", ""}), 31 * 128,
         128 + 512);
  expect("aten::upsample_trilinear3d",
         op("[[1,2,2,2,2],[],[],[],[],[]]", "float;SL;S;S;S;S", {"", "[4, 4, 4]", "False", "", "", ""}),
         15 * 128, 64 + 512);
  // grid [1,5,6,2]: 2·30 outputs
  expect("aten::grid_sampler_2d", op("[[1,2,4,4],[1,5,6,2],[],[],[]]", "float;float;S;S;S"), 420,
         128 + 240 + 240);
}

// LSTM: 5 steps, batch 2, input 3, hidden 4: weights 16×3, 16×4, two biases of 16; S = 10.
TEST(RnnWork, WeightsAreAppliedOncePerRow) {
  const std::initializer_list<std::string_view> concrete = {
      "", "", "4", "", "", "", "2", "4", "0", "1", "False", "0.", "True", "False", "[]", ""};
  const OpArgs args =
      op("[[5,2,3],[[16,3],[16,4],[16],[16]],[],[],[1,2,4],[1,2,4],[],[],[],[],[],[],[],[],[],[]]",
         "float;TL;S;-;float;float;S;S;S;S;S;S;S;S;SL;-", concrete);
  const Work work = work_of("aten::_cudnn_rnn", args);
  ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
  EXPECT_EQ(work.matrix_flops, 2 * 10 * (48 + 64));
  EXPECT_EQ(work.vector_flops, 10 * 10 * 4);
  EXPECT_EQ(work.bytes(), (30 + 40 + 144) * 4);
  // the same without the list: gates · H · (I + H)
  const OpArgs unlisted = op("[[5,2,3],[],[],[],[1,2,4],[1,2,4],[],[],[],[],[],[],[],[],[],[]]",
                             "float;TL;S;-;float;float;S;S;S;S;S;S;S;S;SL;-", concrete);
  EXPECT_EQ(work_of("aten::_cudnn_rnn", unlisted).matrix_flops, work.matrix_flops);
  EXPECT_EQ(work_of("aten::_cudnn_rnn", unlisted).bytes(), work.bytes());
}

TEST(RnnWork, FusedCells) {
  // gates [2,16]: 8 outputs
  expect("aten::_thnn_fused_lstm_cell", op("[[2,16],[2,16],[2,4]]", "float;float;float"), 80,
         (32 + 32 + 8 + 16 + 32) * 4);
  expect("aten::_thnn_fused_gru_cell", op("[[2,12],[2,12],[2,4]]", "float;float;float"), 80,
         (24 + 24 + 8 + 8 + 40) * 4);
}

TEST(OptimizerWork, ListsOfTensors) {
  const WorkHints floats{.list_dtype = DType::float32};
  const std::string list = "[[2,3],[4]]";  // 10 elements
  expect("aten::_foreach_add_", op("[" + list + "," + list + ",[]]", "TL;TL;S"), 10, 3 * 40, floats);
  expect("aten::_foreach_mul_", op("[" + list + ",[]]", "TL;S"), 10, 80, floats);
  expect("aten::_foreach_addcdiv_", op("[" + list + "," + list + "," + list + ",[]]", "TL;TL;TL;S"), 20, 160,
         floats);
  expect("aten::_foreach_norm", op("[" + list + ",[]]", "TL;S"), 20, 40 + 8, floats);
  expect("aten::_foreach_copy_", op("[" + list + "," + list + ",[]]", "TL;TL;S"), 0, 80, floats);
  expect("aten::_foreach_zero_", op("[" + list + "]", "TL"), 0, 40, floats);
  expect("aten::_amp_foreach_non_finite_check_and_unscale_", op("[" + list + ",[1],[1]]", "TL;float;float"),
         10, 80, floats);
  const std::string four = list + "," + list + "," + list + "," + list;
  expect("aten::_fused_adamw_", op("[" + four + ",[]]", "TL;TL;TL;TL;TL"), 120, 7 * 40, floats);
  expect("aten::_fused_adam_", op("[" + four + "," + list + "]", "TL;TL;TL;TL;TL"), 120, 9 * 40, floats);
  expect("aten::_fused_sgd_", op("[" + list + "," + list + "," + list + "]", "TL;TL;TL"), 40, 5 * 40, floats);
  expect("aten::_fused_adagrad_", op("[" + list + "," + list + "," + list + "]", "TL;TL;TL"), 60, 5 * 40,
         floats);
  EXPECT_FALSE(work_of("aten::_foreach_add_", op("[[],[],[]]", "TL;TL;S")).flops_known);  // older recorder
  EXPECT_FALSE(work_of("aten::_foreach_mul_", op("[" + list + ",[]]", "TL;S")).bytes_known);
}

}  // namespace
}  // namespace stepscope::derive
