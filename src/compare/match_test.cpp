#include "compare/match.h"

#include <gtest/gtest.h>

#include "compare/kernel_names.h"

namespace stepscope::compare {
namespace {

Leaf kernel(std::vector<std::string> op, std::string name, int work_class = 0, std::int64_t first = 0,
            std::string module = "") {
  Leaf leaf;
  leaf.module = std::move(module);
  leaf.op = std::move(op);
  leaf.kernel = std::move(name);
  leaf.device = true;
  leaf.work_class = work_class;
  leaf.first = first;
  leaf.calls = 1;
  return leaf;
}

Way way_of_first(const std::vector<Leaf>& a, const std::vector<Leaf>& b) {
  for (const Match& found : match(a, b))
    if (!found.a.empty() && found.a.front() == 0) return found.way;
  return Way::none;
}

TEST(Match, KernelNamesLoseWhatTellsTheBuild) {
  EXPECT_EQ(plain_kernel_name("ampere_sgemm_128x64_tn"), "sgemm_tn");
  EXPECT_EQ(plain_kernel_name("volta_sgemm_32x32_sliced1x4_tn"), "sgemm_sliced_tn");
  EXPECT_EQ(plain_kernel_name("triton_poi_fused_add_0"), plain_kernel_name("triton_poi_fused_add_17"));
  EXPECT_EQ(plain_kernel_name("void split<float, 2ul>(int, long)"),
            plain_kernel_name("void split<float, 5ul>(int)"));
  EXPECT_EQ(plain_kernel_name("k_9f86d081_gfx942"), "k");
  EXPECT_EQ(plain_kernel_name("<>"), "<>");  // never empty
}

TEST(Match, EachWay) {
  const std::vector<std::string> mm = {"aten::linear", "aten::mm"};
  EXPECT_EQ(way_of_first({kernel(mm, "gemm")}, {kernel(mm, "gemm")}), Way::exact);
  EXPECT_EQ(way_of_first({kernel(mm, "ampere_gemm_64x64")}, {kernel(mm, "volta_gemm_32x128")}), Way::variant);
  EXPECT_EQ(way_of_first({kernel(mm, "cutlass")}, {kernel(mm, "gemm")}), Way::order);
  EXPECT_EQ(way_of_first({kernel(mm, "cutlass", 1)}, {kernel(mm, "splitk", 2)}), Way::op);
  EXPECT_EQ(way_of_first({kernel(mm, "cutlass")}, {kernel({"aten::linear", "aten::addmm"}, "gemm")}),
            Way::ancestor);
  EXPECT_EQ(way_of_first({kernel({"aten::conv", "aten::mm"}, "gemm")}, {kernel(mm, "gemm")}), Way::moved);
  EXPECT_EQ(way_of_first({kernel({"a"}, "x", 0, 0, "Net")}, {kernel({"b"}, "y", 0, 0, "Net")}), Way::module);
  EXPECT_EQ(way_of_first({kernel({"a"}, "x")}, {kernel({"b"}, "y")}), Way::none);
}

TEST(Match, KernelsOfAnOpAlignByWhatTheyDo) {
  // gemm, reduce against split, gemm, reduce: the additional kernel in front stays alone.
  const std::vector<Leaf> a = {kernel({"op"}, "cutlass", 1, 10), kernel({"op"}, "sum", 2, 20)},
                          b = {kernel({"op"}, "split", 3, 5), kernel({"op"}, "gemm", 1, 11),
                               kernel({"op"}, "fold", 2, 21)};
  std::size_t pairs = 0, alone = 0;
  for (const Match& found : match(a, b)) {
    if (found.way == Way::none) {
      ++alone;
      EXPECT_EQ(b[found.b.at(0)].kernel, "split");
      continue;
    }
    ++pairs;
    EXPECT_EQ(found.way, Way::order);
    EXPECT_EQ(a[found.a.at(0)].work_class, b[found.b.at(0)].work_class);
  }
  EXPECT_EQ(pairs, 2u);
  EXPECT_EQ(alone, 1u);
}

TEST(Match, ARangeOfTheProgramHoldsWhatOtherKernelsDo) {
  Leaf eager = kernel({"## forward ##", "aten::mm"}, "cutlass"),
       compiled = kernel({"## forward ##", "CompiledFunction"}, "volta");
  eager.first_op = compiled.first_op = 1;
  EXPECT_EQ(way_of_first({eager}, {compiled}), Way::ancestor);
  compiled.op[0] = "## backward ##";
  EXPECT_EQ(way_of_first({eager}, {compiled}), Way::none);
}

}  // namespace
}  // namespace stepscope::compare
