// One hand-made op per row of the matrix-product table. The arithmetic is beside each.
#include <gtest/gtest.h>

#include "derive/work/op_for_test.h"
#include "derive/work/work.h"

namespace stepscope::derive {
namespace {

struct Expected {
  std::int64_t matrix, vector, read, written;
};

void expect(std::string_view name, const OpArgs& args, const Expected& e) {
  const Work work = work_of(name, args);
  SCOPED_TRACE(name);
  ASSERT_TRUE(work.flops_known && work.bytes_known) << work.unknown_reason;
  EXPECT_EQ(work.matrix_flops, e.matrix);
  EXPECT_EQ(work.vector_flops, e.vector);
  EXPECT_EQ(work.bytes_read, e.read);
  EXPECT_EQ(work.bytes_written, e.written);
}

TEST(MatmulWork, PlainProducts) {
  // 2·2·4·3 = 48; (2·3 + 3·4)·2 = 36 read, 2·4·2 = 16 written
  expect("aten::mm", op("[[2,3],[3,4]]", "bf;bf"), {48, 0, 36, 16});
  // 2·5·2·4·3 = 240; 5·18·4 = 360; 5·8·4 = 160
  expect("aten::bmm", op("[[5,2,3],[5,3,4]]", "float;float"), {240, 0, 360, 160});
  // the first operand is expanded over the batch: 6 + 60 elements
  expect("aten::bmm", op("[[5,2,3],[5,3,4]]", "float;float", {}, "[[0,3,1],[12,4,1]]"), {240, 0, 264, 160});
  // 2·2·3 = 12; 6 + 3 elements, 2 written
  expect("aten::mv", op("[[2,3],[3]]", "float;float"), {12, 0, 36, 8});
  // + 2 additions, + 2 elements of self
  expect("aten::addmv", op("[[2],[2,3],[3],[],[]]", "float;float;float;S;S", {"", "", "", "1", "1"}),
         {12, 2, 44, 8});
  // 2·7 = 14; 14 elements, 1 written
  expect("aten::dot", op("[[7],[7]]", "float;float"), {14, 0, 56, 4});
  expect("aten::vdot", op("[[7],[7]]", "float;float"), {14, 0, 56, 4});
  // outer: 2·3 products; addr: also 2·3 additions, and self is read
  expect("aten::outer", op("[[2],[3]]", "float;float"), {0, 6, 20, 24});
  expect("aten::addr", op("[[2,3],[2],[3]]", "float;float;float"), {0, 12, 44, 24});
}

TEST(MatmulWork, AddedMatrices) {
  // bias [4]: 2·4 additions and 4·2 bytes
  expect("aten::addmm", op("[[4],[2,3],[3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "1", "1"}),
         {48, 8, 44, 16});
  // beta 0: self is not read
  expect("aten::addmm", op("[[4],[2,3],[3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "0", "1"}),
         {48, 0, 36, 16});
  // the activation costs another 8 FLOPs
  expect("aten::_addmm_activation",
         op("[[4],[2,3],[3,4],[],[],[]]", "bf;bf;bf;S;S;S", {"", "", "", "1", "1", "False"}),
         {48, 16, 44, 16});
  // 2·5·2·4·3 = 240, 40 additions; (30 + 60 + 40)·2 = 260 read, 80 written
  expect("aten::baddbmm", op("[[5,2,4],[5,2,3],[5,3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "1", "1"}),
         {240, 40, 260, 80});
  // the batches are summed: one 2×4 output
  expect("aten::addbmm", op("[[2,4],[5,2,3],[5,3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "1", "1"}),
         {240, 8, 196, 16});
  expect("aten::addmm_", op("[[2,4],[2,3],[3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "1", "1"}),
         {48, 8, 52, 16});
}

TEST(MatmulWork, LinearAndMatmulLeaves) {
  // R = 2·5 = 10: 2·10·3·4 = 240, bias 40; (30 + 12 + 4)·2 read, 40·2 written
  expect("aten::linear", op("[[2,5,3],[4,3],[4]]", "bf;bf;bf"), {240, 40, 92, 80});
  expect("aten::linear", op("[[2,5,3],[4,3],[]]", "bf;bf;-"), {240, 0, 84, 80});
  // [6,1,2,3] × [7,3,4]: batch 6·7 = 42, 2·42·2·4·3 = 2016
  expect("aten::matmul", op("[[6,1,2,3],[7,3,4]]", "float;float"), {2016, 0, (36 + 84) * 4, 336 * 4});
  // vectors: [3]·[3,4] and [3]·[3]
  expect("aten::matmul", op("[[3],[3,4]]", "float;float"), {24, 0, 60, 16});
  expect("aten::matmul", op("[[3],[3]]", "float;float"), {6, 0, 24, 4});
  EXPECT_EQ(work_role("aten::matmul"), WorkRole::composite);
  EXPECT_EQ(work_role("aten::mm"), WorkRole::canonical);
}

TEST(MatmulWork, LowPrecision) {
  const std::initializer_list<std::string_view> none = {"", "", "", "", "", "", "", "True"};
  // scaling 8; scales 2 · 4 bytes; (6 + 12)·1 read; output 2 bytes
  expect("aten::_scaled_mm", op("[[2,3],[3,4],[],[],[],[],[],[]]", "fp8;fp8;float;float;-;-;-;S", none),
         {48, 8, 26, 16});
  // out_dtype float (6), bias of 4 · 2 bytes and 8 additions
  expect("aten::_scaled_mm",
         op("[[2,3],[3,4],[],[],[4],[],[],[]]", "fp8;fp8;float;float;bf;-;S;S",
            {"", "", "", "", "", "", "6", "True"}),
         {48, 16, 34, 32});
  // two values per recorded element: K = 6 → 2·2·4·6 = 96
  expect("aten::_scaled_mm",
         op("[[2,3],[3,4],[2,1],[4,1],[],[],[],[]]",
            "c10::Float4_e2m1fn_x2;c10::Float4_e2m1fn_x2;fp8;fp8;-;-;-;S", none),
         {96, 8, 24, 16});
  expect("aten::_int_mm", op("[[2,3],[3,4]]", "signed char;signed char"), {48, 0, 18, 32});
  // int4: scales [K/g, N, 2]; 2·2·4·64; x 2·64·2, weight 4·4·4 bytes, scales 2·4·2·2
  expect("aten::_weight_int4pack_mm", op("[[2,64],[4,4],[],[2,4,2]]", "bf;int;S;bf", {"", "", "32", ""}),
         {1024, 0, 256 + 64 + 32, 16});
  expect("aten::_weight_int8pack_mm", op("[[2,64],[4,64],[4]]", "bf;signed char;bf"),
         {1024, 0, 256 + 256 + 8, 16});
}

TEST(MatmulWork, Grouped) {
  // [T,K]×[G,K,N]: 2·10·3·4 = 240; (30 + 5·12)·2 + 5·4 read
  expect("aten::_grouped_mm", op("[[10,3],[5,3,4],[5]]", "bf;bf;int"), {240, 0, 200, 80});
  // [G,M,K]×[K,T]: 2·2·3·10 = 120, output [M,T]
  expect("aten::_grouped_mm", op("[[5,2,3],[3,10],[5]]", "bf;bf;int"), {120, 0, 140, 40});
  // [M,T]×[T,N]: 2·2·10·4 = 160, output [G,M,N] = 40
  expect("aten::_grouped_mm", op("[[2,10],[10,4],[5]]", "bf;bf;int"), {160, 0, 140, 80});
  // 3-d × 3-d is a bmm
  expect("aten::_grouped_mm", op("[[5,2,3],[5,3,4]]", "bf;bf"), {240, 0, 180, 80});
  // scales at 2 and 3, offsets at 4
  expect("aten::_scaled_grouped_mm", op("[[10,3],[5,3,4],[10],[5,4],[5]]", "fp8;fp8;float;float;int"),
         {240, 0, 30 + 60 + 40 + 80 + 20, 80});
  EXPECT_TRUE(work_of("aten::_grouped_mm", op("[[10,3],[5,3,4],[5]]", "bf;bf;int")).bytes_upper_bound);
}

TEST(MatmulWork, SparseIsDenseEquivalent) {
  // values [4,8] of a [4,16] matrix times [16,6]: 2·4·6·16 = 768
  const Work work =
      work_of("aten::_sparse_semi_structured_mm", op("[[4,8],[4,1],[16,6]]", "half;short int;half"));
  EXPECT_EQ(work.matrix_flops, 768);
  EXPECT_TRUE(work.sparse);
  EXPECT_EQ(work.bytes_read, 64 + 8 + 192);
  EXPECT_EQ(work_of("aten::_cslt_sparse_mm", op("[[4,9],[16,6]]", "half;half")).matrix_flops, 768);
  EXPECT_EQ(work_of("aten::_sparse_semi_structured_linear",
                    op("[[6,16],[4,8],[4,1],[4]]", "half;half;short int;half"))
                .matrix_flops,
            768);
}

TEST(MatmulWork, ComplexIsFourRealProducts) {
  expect("aten::mm", op("[[2,3],[3,4]]", "c10::complex<float>;c10::complex<float>"), {192, 0, 144, 64});
}

TEST(MatmulWork, EmptyBatchIsZeroNotUnknown) {
  expect("aten::mm", op("[[0,3],[3,4]]", "bf;bf"), {0, 0, 24, 0});
  expect("aten::bmm", op("[[0,2,3],[0,3,4]]", "bf;bf"), {0, 0, 0, 0});
}

TEST(MatmulWork, ContradictingSizesAreMalformed) {
  for (const char* dims : {"[[2,3],[5,4]]", "[[2],[3,4]]", "[[1,2,3],[2,3,4]]"}) {
    const Work work =
        work_of(std::string_view(dims).size() > 14 ? "aten::bmm" : "aten::mm", op(dims, "bf;bf"));
    EXPECT_FALSE(work.flops_known);
    EXPECT_TRUE(work.unknown_reason.starts_with("malformed")) << dims;
  }
}

TEST(MatmulWork, OverflowIsUnknownNotNegative) {
  const Work work = work_of("aten::mm", op("[[4000000000,4000000000],[4000000000,4]]", "bf;bf"));
  EXPECT_FALSE(work.flops_known);
  EXPECT_EQ(work.matrix_flops, 0);
  EXPECT_FALSE(work.unknown_reason.empty());
}

TEST(MatmulWork, LayoutAndSwappedSidesLeaveTheFlops) {
  const auto flops = [](const char* dims, const char* strides) {
    return work_of("aten::mm", op(dims, "bf;bf", {}, strides)).matrix_flops;
  };
  EXPECT_EQ(flops("[[8,3],[3,5]]", "[[3,1],[5,1]]"), flops("[[8,3],[3,5]]", "[[1,8],[1,3]]"));
  EXPECT_EQ(flops("[[8,3],[3,5]]", "[[3,1],[5,1]]"), flops("[[5,3],[3,8]]", "[[3,1],[8,1]]"));
}

}  // namespace
}  // namespace stepscope::derive
