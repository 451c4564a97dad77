// Properties of every op: roles, conventions, and that no text can break it.
#include "derive/work/work.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "derive/work/families.h"
#include "derive/work/op_for_test.h"

namespace stepscope::derive {
namespace {

TEST(WorkTable, NamesAreUniqueAndRolesAsStated) {
  std::set<std::string_view> names;
  for (const OpFormula& op_work : op_table()) EXPECT_TRUE(names.insert(op_work.name).second) << op_work.name;
  EXPECT_GT(names.size(), 280u);
  EXPECT_EQ(work_role("aten::mul_"), WorkRole::canonical);  // the row of its base name
  EXPECT_EQ(work_role("aten::linear"), WorkRole::composite);
  EXPECT_EQ(work_role("aten::nothing"), WorkRole::none);
  EXPECT_EQ(work_role(""), WorkRole::none);
  EXPECT_EQ(work_role("_"), WorkRole::none);
}

TEST(WorkConventions, TorchCountsContractionsOnly) {
  const OpArgs product = op("[[4],[2,3],[3,4],[],[]]", "bf;bf;bf;S;S", {"", "", "", "1", "1"});
  const Work torch = work_of("aten::addmm", product, Convention::torch);
  EXPECT_EQ(torch.matrix_flops, 48);
  EXPECT_EQ(torch.vector_flops, 0);
  const Work sum = work_of("aten::add", op("[[6],[6]]", "bf;bf"), Convention::torch);
  EXPECT_TRUE(sum.flops_known);
  EXPECT_EQ(sum.flops(), 0);
  EXPECT_EQ(sum.bytes(), 36);
  EXPECT_EQ(work_of("aten::mv", op("[[2,3],[3]]", "bf;bf"), Convention::torch).flops(), 0);
}

TEST(WorkConventions, WithFlopsKnowsSixNames) {
  EXPECT_EQ(with_flops_of("aten::mm", op("[[2,3],[3,4]]", "bf;bf")), 48);
  EXPECT_EQ(with_flops_of("aten::mul", op("[[2,3],[5,2,3]]", "bf;bf")), 6);  // argument 0, no broadcasting
  EXPECT_EQ(with_flops_of("aten::mul_", op("[[2,3]]", "bf")), std::nullopt);
  EXPECT_EQ(with_flops_of("aten::conv2d", op("[[2,4,8,8],[6,4,3,3],[],[],[],[],[]]", "bf;bf;-;SL;SL;SL;S",
                                             {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"})),
            2 * 192 * 36);
}

// A batch norm that only evaluates, and a flash-attn backward without the causal flag.
TEST(WorkFlags, AreReadWhereTheOpHasThem) {
  const OpArgs eval = op("[[2,3,5],[3],[3],[3],[3],[],[],[]]", "bf;bf;bf;bf;bf;S;S;S",
                         {"", "", "", "", "", "False", "0.1", "1e-5"});
  EXPECT_EQ(work_of("aten::native_batch_norm", eval).vector_flops, 2 * 30 + 18);
  const OpArgs package =
      op("[[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,3,4,8],[2,4,3],[2,3,4,8],[2,3,4,8],[2,3,4,8],[],[],[]]",
         "bf;bf;bf;bf;bf;float;bf;bf;bf;S;S;S", {"", "", "", "", "", "", "", "", "", "0.", "0.1", "False"});
  EXPECT_EQ(work_of("flash_attn::_flash_attn_backward", package).matrix_flops, 2 * 2 * 4 * 9 * 8 * 5);
}

TEST(WorkOfOlderFiles, NoShapesNamesTheRecorderOption) {
  for (const OpFormula& op_work : op_table()) {
    const Work work = work_of(op_work.name, parse_op_args("", "", "", ""));
    if (work.flops_known) {
      EXPECT_EQ(work.flops() + work.bytes(), 0) << op_work.name;
      continue;
    }
    EXPECT_NE(work.unknown_reason.find("record_shapes"), std::string_view::npos) << op_work.name;
  }
}

// Unknown is never a number, and a number is never negative.
void expect_sound(const Work& work, const std::string& what) {
  EXPECT_GE(work.matrix_flops, 0) << what;
  EXPECT_GE(work.vector_flops, 0) << what;
  EXPECT_GE(work.bytes_read, 0) << what;
  EXPECT_GE(work.bytes_written, 0) << what;
  EXPECT_EQ(work.unknown_reason.empty(), work.flops_known && work.bytes_known) << what;
  EXPECT_TRUE(work.flops_known || work.flops() == 0) << what;
  EXPECT_TRUE(work.bytes_known || work.bytes() == 0) << what;
}

std::string random_list(std::mt19937& random, int depth) {
  static const char* const kSizes[] = {
      "0", "1", "2", "3", "8", "64", "4096", "2147483648", "9223372036854775807", "-1", "1e3", "x"};
  std::string text = "[";
  for (std::uint64_t i = random() % 5; i > 0; --i) {
    if (text.size() > 1) text += ",";
    text += depth > 0 && random() % 4 == 0 ? random_list(random, depth - 1)
                                           : kSizes[random() % std::size(kSizes)];
  }
  return text + "]";
}

std::string random_field(std::mt19937& random, const char* const* words, std::size_t count,
                         std::size_t args) {
  std::string text = "[";
  for (std::size_t i = 0; i < args; ++i)
    text += std::string(i == 0 ? "\"" : ",\"") + words[random() % count] + "\"";
  return text + "]";
}

TEST(WorkOfHostileText, EveryOpSurvivesRandomArguments) {
  static const char* const kTypes[] = {"float", "c10::BFloat16", "Scalar", "ScalarList",  "TensorList",
                                       "",      "double",        "bool",   "GenericList", "?"};
  static const char* const kValues[] = {"",
                                        "1",
                                        "0",
                                        "-1",
                                        "True",
                                        "False",
                                        "[1, 1]",
                                        "[]",
                                        "[True, False, True]",
                                        "same",
                                        "2.",
                                        "[2., 3.]",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "[9223372036854775807]",
                                        "nan",
                                        "[-9]",
                                        "[[",
                                        "inf"};
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round)
    for (const OpFormula& op_work : op_table()) {
      const std::size_t args = 1 + random() % 16;
      std::string dims = "[";
      std::string strides = "[";
      for (std::size_t i = 0; i < args; ++i) {
        dims += (i == 0 ? "" : ",") + random_list(random, 2);
        strides += (i == 0 ? "" : ",") + random_list(random, 2);
      }
      const OpArgs parsed =
          parse_op_args(dims + "]", random_field(random, kTypes, std::size(kTypes), args), strides + "]",
                        random_field(random, kValues, std::size(kValues), args));
      const std::string what = std::string(op_work.name) + " " + dims;
      for (const Convention convention : {Convention::exact, Convention::torch})
        expect_sound(work_of(op_work.name, parsed, convention), what);
    }
}

TEST(WorkProperties, TorchIsNeverBelowExactForItsContractions) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto n = [&](unsigned most) { return std::to_string(1 + random() % most); };
    const std::string b = n(3), h = n(4), q = n(9), k = n(9), d = n(8);
    const std::string side = "," + k + "," + d + "]";
    const OpArgs attention =
        op("[[" + b + "," + h + "," + q + "," + d + "],[" + b + "," + h + side + ",[" + b + "," + h + side +
               ",[],[],[],[]]",
           "bf;bf;bf;-;S;S;S", {"", "", "", "", "True", "0.", random() % 2 == 0 ? "True" : "False"});
    const char* const name = "aten::_scaled_dot_product_efficient_attention";
    const Work exact = work_of(name, attention);
    const Work torch = work_of(name, attention, Convention::torch);
    ASSERT_TRUE(exact.flops_known && torch.flops_known);
    EXPECT_GE(torch.matrix_flops, exact.matrix_flops);
    const OpArgs product = op("[[" + q + "," + k + "],[" + k + "," + d + "]]", "bf;bf");
    EXPECT_EQ(work_of("aten::mm", product).matrix_flops,
              work_of("aten::mm", product, Convention::torch).matrix_flops);
  }
}

}  // namespace
}  // namespace stepscope::derive
