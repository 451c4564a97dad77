#include "derive/roof/product_tiles.h"

#include <gtest/gtest.h>

namespace stepscope::derive {
namespace {

TEST(ProductTiles, TileOfAName) {
  const auto tile = [](const char* name) {
    const Tile t = tile_of(name).value_or(Tile{});
    return std::pair(t.one, t.other);
  };
  EXPECT_EQ(tile("volta_sgemm_128x64_nn"), std::pair(128L, 64L));
  EXPECT_EQ(tile("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8"),
            std::pair(128L, 64L));
  EXPECT_EQ(tile("Cijk_Alik_Bljk_BBS_MT256x192x64_MI16x16x1_SN"), std::pair(256L, 192L));
  EXPECT_EQ(tile("sm90_xmma_gemm_tilesize128x128x64_warpgroupsize1x1x1"), std::pair(128L, 128L));
  EXPECT_EQ(tile("ampere_sgemm_32x32_sliced1x4_tn"), std::pair(32L, 32L));
  for (const char* none : {"gemv", "sliced1x4", "99999999999999999999x64", "128x", "128x8", "x64", ""})
    EXPECT_FALSE(tile_of(none)) << none;
}

ProductOnDevice product(const char* kernel, const char* grid, const char* block = "[256, 1, 1]") {
  return {1, 1000, 3000, kernel, grid, block, 100};
}

// 1000 × 3000 in tiles of 128 × 64: 8 × 47 = 376; with the long side along n: 24 × 16 = 384.
TEST(ProductTiles, Waves) {
  EXPECT_DOUBLE_EQ(waves_of(product("gemm_128x64", "[8, 47, 1]")), 3.76);
  EXPECT_DOUBLE_EQ(waves_of(product("gemm_128x64", "[24, 16, 1]")), 3.84);
  EXPECT_DOUBLE_EQ(waves_of(product("gemm_128x64", "[98304, 1, 1]")), 3.84);  // grid in threads
  EXPECT_EQ(waves_of(product("gemm_128x64", "[100, 1, 1]")), 0);              // persistent
  EXPECT_EQ(waves_of(product("gemm_128x64", "")), 0);
  EXPECT_DOUBLE_EQ(waves_of(product("gemm_128x128", "")), 1.92);
  EXPECT_EQ(waves_of(product("nothing", "[8, 47, 1]")), 0);
}

TEST(ProductTiles, AbsurdSizes) {
  ProductOnDevice p =
      product("gemm_128x64", "[9223372036854775807, 9223372036854775807, 9223372036854775807]");
  p.m = p.n = p.batch = INT64_MAX;
  EXPECT_EQ(waves_of(p), 0);
}

}  // namespace
}  // namespace stepscope::derive
