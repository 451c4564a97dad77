#include <gtest/gtest.h>

#include "derive/work/families.h"
#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

std::int64_t counted_pairs(std::int64_t queries, std::int64_t keys, Alignment alignment, std::int64_t left,
                           std::int64_t right) {
  const std::int64_t offset = alignment == Alignment::bottom_right ? keys - queries : 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < queries; ++i)
    for (std::int64_t j = 0; j < keys; ++j)
      if ((left < 0 || j >= i + offset - left) && (right < 0 || j <= i + offset + right)) ++count;
  return count;
}

TEST(VisiblePairs, AgreesWithALoopOverAllPairs) {
  for (std::int64_t queries = 0; queries <= 9; ++queries)
    for (std::int64_t keys = 0; keys <= 9; ++keys)
      for (const Alignment alignment : {Alignment::top_left, Alignment::bottom_right})
        for (std::int64_t left = -1; left <= 10; ++left)
          for (std::int64_t right = -1; right <= 10; ++right)
            ASSERT_EQ(visible_pairs(queries, keys, alignment, left, right).value(),
                      counted_pairs(queries, keys, alignment, left, right))
                << queries << ' ' << keys << ' ' << int(alignment) << ' ' << left << ' ' << right;
}

TEST(VisiblePairs, ClosedFormsOfCausalMasks) {
  EXPECT_EQ(visible_pairs(559, 559, Alignment::top_left, -1, 0).value(), 559 * 560 / 2);
  EXPECT_EQ(visible_pairs(1, 4096, Alignment::bottom_right, -1, 0).value(), 4096);  // decoding with a cache
  EXPECT_EQ(visible_pairs(1, 4096, Alignment::top_left, -1, 0).value(), 1);
}

TEST(VisiblePairs, AbsurdLengthsAreUnknown) {
  EXPECT_FALSE(visible_pairs(std::int64_t{1} << 50, 4, Alignment::top_left, -1, 0).known());
  EXPECT_FALSE(visible_pairs(-1, 4, Alignment::top_left, -1, 0).known());
  EXPECT_TRUE(visible_pairs(4, 4, Alignment::top_left, INT64_MAX, INT64_MAX).known());
}

// B 2, H 4, N = M = 3, d = dv = 8; P = 6 causal, 9 full.
OpArgs flash(const char* causal, const char* keys = "[2,4,3,8]") {
  return op(std::string("[[2,4,3,8],") + keys + "," + keys + ",[],[],[],[]]", "bf;bf;bf;S;S;S;S",
            {"", "", "", "0.", causal, "False", "0.1"});
}

TEST(AttentionWork, ForwardCountsVisiblePairs) {
  const Work full = work_of("aten::_scaled_dot_product_flash_attention", flash("False"));
  EXPECT_EQ(full.matrix_flops, 2 * 2 * 4 * 9 * 16);
  EXPECT_EQ(full.vector_flops, 5 * 2 * 4 * 9);
  EXPECT_EQ(full.bytes_read, 3 * 192 * 2);
  EXPECT_EQ(full.bytes_written, 192 * 2 + 4 * 24);
  const Work causal = work_of("aten::_scaled_dot_product_flash_attention", flash("True"));
  EXPECT_EQ(causal.matrix_flops, 2 * 2 * 4 * 6 * 16);
}

TEST(AttentionWork, ConventionsOfTheCausalMask) {
  const auto flops = [](Convention c) {
    return work_of("aten::_scaled_dot_product_flash_attention", flash("True"), c).matrix_flops;
  };
  EXPECT_EQ(flops(Convention::torch), 2 * 2 * 4 * 9 * 16);  // the whole square (torchtitan #341)
  EXPECT_EQ(flops(Convention::exact), 2 * 2 * 4 * 6 * 16);
}

TEST(AttentionWork, GroupedHeadsCountQueriesForFlopsAndKeysForBytes) {
  // Hk = 1 (pytorch #177188)
  const Work work = work_of("aten::_scaled_dot_product_flash_attention", flash("False", "[2,1,3,8]"));
  EXPECT_EQ(work.matrix_flops, 2 * 2 * 4 * 9 * 16);
  EXPECT_EQ(work.bytes_read, (192 + 48 + 48) * 2);
  EXPECT_FALSE(
      work_of("aten::_scaled_dot_product_flash_attention", flash("False", "[2,1,3,8]"), Convention::torch)
          .flops_known);
  EXPECT_FALSE(work_of("aten::_scaled_dot_product_flash_attention", flash("False", "[2,3,3,8]")).flops_known);
}

TEST(AttentionWork, PositionsOfTheOtherForwardOps) {
  const std::int64_t causal = 2 * 2 * 4 * 6 * 16;
  const std::string qkv = "[[2,4,3,8],[2,4,3,8],[2,4,3,8],";
  EXPECT_EQ(work_of("aten::_scaled_dot_product_efficient_attention",
                    op(qkv + "[],[],[],[]]", "bf;bf;bf;-;S;S;S", {"", "", "", "", "True", "0.", "True"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::_scaled_dot_product_cudnn_attention",
                    op(qkv + "[],[],[],[]]", "bf;bf;bf;-;S;S;S", {"", "", "", "", "True", "0.", "True"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::_scaled_dot_product_cudnn_attention",  // torch 2.4: dropout 3, causal 4
                    op(qkv + "[],[],[]]", "bf;bf;bf;S;S;S", {"", "", "", "0.", "True", "False"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::_scaled_dot_product_flash_attention_for_cpu",  // pytorch #195460
                    op(qkv + "[],[],[],[]]", "bf;bf;bf;S;S;-;S", {"", "", "", "0.", "True", "", ""}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::scaled_dot_product_attention",
                    op(qkv + "[],[],[]]", "bf;bf;bf;-;S;S", {"", "", "", "", "0.", "True"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::_scaled_dot_product_fused_attention_overrideable",
                    op(qkv + "[2,4,3,3],[],[]]", "bf;bf;bf;bf;S;S", {"", "", "", "", "0.", "True"}))
                .bytes_read,
            (3 * 192 + 72) * 2);
  // sequence before heads
  EXPECT_EQ(work_of("flash_attn::_flash_attn_forward",
                    op("[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[],[],[]]", "bf;bf;bf;S;S;S;S;S",
                       {"", "", "", "0.", "0.1", "True", "-1", "-1"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("aten::_efficient_attention_forward",
                    op("[[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[],[],[],[],[]]", "bf;bf;bf;-;-;-;-;-;S;S",
                       {"", "", "", "", "", "", "", "", "0.", "1"}))
                .matrix_flops,
            causal);
}

TEST(AttentionWork, AlignmentOfUnequalLengths) {
  // one query over 5 keys: bottom-right sees all 5 keys, top-left sees one
  const std::string rest = "[],[],[],[],[]]";
  const OpArgs package = op("[[2,1,4,8],[2,5,4,8],[2,5,4,8]," + rest, "bf;bf;bf;S;S;S;S;S",
                            {"", "", "", "0.", "0.1", "True", "-1", "-1"});
  EXPECT_EQ(work_of("flash_attn::_flash_attn_forward", package).matrix_flops, 2 * 2 * 4 * 5 * 16);
  const OpArgs efficient = op("[[2,4,1,8],[2,4,5,8],[2,4,5,8],[],[],[],[]]", "bf;bf;bf;-;S;S;S",
                              {"", "", "", "", "True", "0.", "True"});
  EXPECT_EQ(work_of("aten::_scaled_dot_product_efficient_attention", efficient).matrix_flops,
            2 * 2 * 4 * 1 * 16);
  // a window of 1 to the left: the 3 queries see 1 + 2 + 2 keys
  const OpArgs window = op("[[2,3,4,8],[2,3,4,8],[2,3,4,8]," + rest, "bf;bf;bf;S;S;S;S;S",
                           {"", "", "", "0.", "0.1", "True", "1", "0"});
  EXPECT_EQ(work_of("flash_attn::_flash_attn_forward", window).matrix_flops, 2 * 2 * 4 * 5 * 16);
}

TEST(AttentionWork, BackwardHasFiveContractions) {
  const std::string nine = "[[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3],[],[],[],[],[],[]]";
  const OpArgs args =
      op(nine, "bf;bf;bf;bf;bf;float;-;-;S;S;S;S", {"", "", "", "", "", "", "", "", "3", "3", "0.", "True"});
  const Work work = work_of("aten::_scaled_dot_product_flash_attention_backward", args);
  ASSERT_TRUE(work.flops_known) << work.unknown_reason;
  EXPECT_EQ(work.matrix_flops, 2 * 2 * 4 * 6 * 8 * 5);
  EXPECT_EQ(work.bytes_read, 5 * 192 * 2 + 4 * 24);  // q, k, v, out, grad_out, log-sum-exp
  EXPECT_EQ(work.bytes_written, 3 * 192 * 2);
  const Work forward = work_of("aten::_scaled_dot_product_flash_attention", flash("True"));
  EXPECT_EQ(work.matrix_flops * 2, forward.matrix_flops * 5);
}

TEST(AttentionWork, BackwardPositions) {
  const std::int64_t causal = 2 * 2 * 4 * 6 * 8 * 5;
  // grad 0, q k v 1–3, bias 4, out 5, lse 6, seeds 7 8, dropout 9, mask 10, causal 11
  EXPECT_EQ(work_of("aten::_scaled_dot_product_efficient_attention_backward",
                    op("[[2,4,3,8],[2,4,3,8],[2,4,3,8],[2,4,3,8],[],[2,4,3,8],[2,4,3],[],[],[],[],[]]",
                       "bf;bf;bf;bf;-;bf;float;-;-;S;SL;S",
                       {"", "", "", "", "", "", "", "", "", "0.", "[True, True, True, False]", "True"}))
                .matrix_flops,
            causal);
  EXPECT_EQ(work_of("flash_attn::_flash_attn_backward",
                    op("[[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,4,3],[2,3,4,8],[2,3,4,8],[2,3,"
                       "4,8],[],[],[],[],[]]",
                       "bf;bf;bf;bf;bf;float;bf;bf;bf;S;S;S;S;S",
                       {"", "", "", "", "", "", "", "", "", "0.", "0.1", "True", "-1", "-1"}))
                .matrix_flops,
            causal);
}

// 10 tokens in 3 sequences, the longest 6; H 4, d 8.
OpArgs varlen(const char* longest, const char* causal) {
  return op("[[10,4,8],[10,4,8],[10,4,8],[4],[4],[],[],[],[],[],[],[]]", "bf;bf;bf;int;int;S;S;S;S;S;S;S",
            {"", "", "", "", "", longest, longest, "0.", "0.1", causal, "-1", "-1"});
}

TEST(AttentionWork, PackedSequencesAreAnEstimate) {
  const std::int64_t per_pair = 2 * 4 * 16;
  const Work full = work_of("flash_attn::_flash_attn_varlen_forward", varlen("6", "False"));
  ASSERT_TRUE(full.flops_known) << full.unknown_reason;
  EXPECT_TRUE(full.estimated);
  EXPECT_EQ(full.matrix_flops, per_pair * (36 + 4 + 4));  // lengths 6, 2 and 2
  const Work causal = work_of("flash_attn::_flash_attn_varlen_forward", varlen("6", "True"));
  EXPECT_EQ(causal.matrix_flops, per_pair * (21 + 3 + 3));
}

TEST(AttentionWork, OnePackedSequenceIsExact) {
  const OpArgs args =
      op("[[10,4,8],[10,4,8],[10,4,8],[2],[2],[],[],[],[],[],[],[]]", "bf;bf;bf;int;int;S;S;S;S;S;S;S",
         {"", "", "", "", "", "10", "10", "0.", "0.1", "False", "-1", "-1"});
  const Work work = work_of("flash_attn::_flash_attn_varlen_forward", args);
  EXPECT_FALSE(work.estimated);
  EXPECT_EQ(work.matrix_flops, 2 * 4 * 100 * 16);
}

TEST(AttentionWork, UnrecordedMaskIsUnknown) {
  const Work work = work_of("aten::_scaled_dot_product_flash_attention",
                            op("[[2,4,3,8],[2,4,3,8],[2,4,3,8],[],[],[],[]]", "bf;bf;bf;S;S;S;S"));
  EXPECT_FALSE(work.flops_known);
  EXPECT_FALSE(work.unknown_reason.empty());
}

TEST(AttentionWork, TheMathPathLeavesCountingToItsProducts) {
  EXPECT_EQ(work_role("aten::_scaled_dot_product_attention_math"), WorkRole::none);  // pytorch #134804
  EXPECT_EQ(work_role("aten::scaled_dot_product_attention"), WorkRole::composite);
  EXPECT_EQ(work_role("aten::_scaled_dot_product_flash_attention"), WorkRole::canonical);
}

}  // namespace
}  // namespace stepscope::derive
