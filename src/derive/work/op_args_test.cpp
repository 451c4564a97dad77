#include "derive/work/op_args.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace stepscope::derive {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(OpArgs, ReadsTensorsScalarsAndNone) {
  const OpArgs args =
      parse_op_args("[[1024], [8944, 1024], [1024, 2816], [], [], []]",
                    R"(["c10::BFloat16", "c10::BFloat16", "float", "Scalar", "ScalarList", ""])",
                    "[[1], [1024, 1], [1, 1024], [], [], []]", R"(["", "", "", "0.5", "[1, 2]", ""])");
  ASSERT_EQ(args.size(), 6u);
  EXPECT_TRUE(args.has_dims && args.has_types && args.has_strides && args.has_concrete);
  EXPECT_EQ(args.at(1).shape.dims, (Sizes{8944, 1024}));
  EXPECT_EQ(args.at(2).shape.strides, (Sizes{1, 1024}));
  EXPECT_EQ(args.at(1).dtype, DType::bfloat16);
  EXPECT_EQ(args.at(3).kind, ArgKind::scalar);
  EXPECT_EQ(number_of(args.at(3)), 0.5);
  EXPECT_EQ(integers_of(args.at(4)), (Sizes{1, 2}));
  EXPECT_EQ(args.at(5).kind, ArgKind::none);
  EXPECT_EQ(args.at(17).kind, ArgKind::unknown);
}

TEST(OpArgs, EmptyDimsMeanFourThings) {
  const OpArgs args = parse_op_args("[[], [], [], [], []]",
                                    R"(["double", "Scalar", "TensorList", "GenericList", ""])", "", "");
  EXPECT_TRUE(args.at(0).is_tensor() && args.at(0).shape.dims.empty());
  EXPECT_EQ(numel(args.at(0).shape).value(), 1);
  EXPECT_EQ(args.at(1).kind, ArgKind::scalar);
  EXPECT_EQ(args.at(2).kind, ArgKind::tensor_list);
  EXPECT_FALSE(args.at(2).is_list());
  EXPECT_EQ(args.at(3).kind, ArgKind::unknown);
  EXPECT_EQ(args.at(4).kind, ArgKind::none);
}

TEST(OpArgs, OldDialectNamesScalarsWithCapitals) {
  const OpArgs args =
      parse_op_args("[[4], [], [], [], [2]]", R"(["float","Int","Bool","Double","long"])", "", "");
  EXPECT_EQ(args.at(1).kind, ArgKind::scalar);
  EXPECT_EQ(args.at(2).kind, ArgKind::scalar);
  EXPECT_EQ(args.at(3).kind, ArgKind::scalar);
  EXPECT_EQ(args.at(4).dtype, DType::int64);
  EXPECT_FALSE(args.has_concrete);
  EXPECT_FALSE(integer_of(args.at(1)));
}

TEST(OpArgs, TensorListsNestTheirSizes) {
  const OpArgs args = parse_op_args("[[[32, 2], [5]], []]", R"(["TensorList", "Scalar"])",
                                    "[[[2, 1], [1]], []]", R"(["", "0"])");
  ASSERT_TRUE(args.at(0).is_list());
  ASSERT_EQ(args.at(0).list.size(), 2u);
  EXPECT_EQ(args.at(0).list[0].dims, (Sizes{32, 2}));
  EXPECT_EQ(args.at(0).list[1].strides, (Sizes{1}));
}

TEST(OpArgs, BooleansAreReadByContent) {
  const OpArgs args = parse_op_args("[[], [], []]", R"(["Scalar", "ScalarList", "Scalar"])", "",
                                    R"(["False", "[True, False]", "maybe"])");
  EXPECT_EQ(boolean_of(args.at(0)), false);
  EXPECT_EQ(booleans_of(args.at(1)), (std::vector<bool>{true, false}));
  EXPECT_FALSE(boolean_of(args.at(2)));
}

TEST(OpArgs, NegativeAndHugeSizesAreUnknown) {
  const OpArgs args = parse_op_args("[[-1, 4], [99999999999999999999], [4611686018427387904, 4]]",
                                    R"(["float", "float", "float"])", "", "");
  EXPECT_FALSE(args.at(0).is_tensor());
  EXPECT_FALSE(args.at(1).is_tensor());
  ASSERT_TRUE(args.at(2).is_tensor());
  EXPECT_FALSE(numel(args.at(2).shape).known());
}

TEST(OpArgs, HostileTextIsUnknown) {
  const std::string deep = std::string(200000, '[');
  const std::string balanced = deep + std::string(200000, ']');
  for (const std::string& text :
       {std::string("["), std::string("]"), std::string("[[1]"), std::string("[1]]"), std::string("[\"abc]"),
        std::string("{}"), std::string("null"), deep, std::string("[,,]"), std::string("[[1,2],{\"a\":[}]}]"),
        balanced, std::string("[[1,2,\"x\"]]"), std::string("[1.5]"), std::string("[[1e9]]")}) {
    const OpArgs args = parse_op_args(text, text, text, text);
    for (const Arg& arg : args.args) EXPECT_FALSE(arg.is_tensor() || arg.is_list()) << text.substr(0, 40);
  }
}

TEST(OpArgs, MissingTypesLeaveSizesOnly) {
  const OpArgs args = parse_op_args("[[3, 4], []]", "", "", "");
  EXPECT_TRUE(args.at(0).is_tensor());
  EXPECT_EQ(args.at(0).dtype, DType::unknown);
  EXPECT_FALSE(touched_bytes(args.at(0)).known());
  EXPECT_EQ(args.at(1).kind, ArgKind::unknown);
}

// The number of different addresses, counted one by one.
std::size_t addresses(const Shape& shape) {
  std::set<std::int64_t> seen;
  const std::int64_t total = numel(shape).value();
  for (std::int64_t i = 0; i < total; ++i) {
    std::int64_t rest = i;
    std::int64_t address = 0;
    for (std::size_t d = shape.dims.size(); d-- > 0;) {
      address += rest % shape.dims[d] * shape.strides[d];
      rest /= shape.dims[d];
    }
    seen.insert(address);
  }
  return seen.size();
}

TEST(OpArgs, TouchedElementsAgreeWithASetOfAddresses) {
  const Shape shapes[] = {{{2, 3, 4}, {12, 4, 1}}, {{2, 3, 4}, {0, 4, 1}}, {{5, 7}, {0, 0}}, {{5, 7}, {1, 5}},
                          {{10, 6, 3}, {6, 1, 0}}, {{1, 4}, {77, 1}},      {{0, 4}, {4, 1}}, {{}, {}}};
  for (const Shape& shape : shapes)
    EXPECT_EQ(static_cast<std::size_t>(touched_elements(shape).value()), addresses(shape));
}

TEST(DTypes, PromotionPutsTheCategoryFirst) {
  EXPECT_EQ(promoted(DType::int64, DType::float16), DType::float16);
  EXPECT_EQ(promoted(DType::float16, DType::bfloat16), DType::float32);
  EXPECT_EQ(promoted(DType::float32, DType::bfloat16), DType::float32);
  EXPECT_EQ(promoted(DType::boolean, DType::uint8), DType::uint8);
  EXPECT_EQ(promoted(DType::int8, DType::uint8), DType::int16);
  EXPECT_EQ(promoted(DType::complex64, DType::float64), DType::complex128);
  EXPECT_EQ(promoted(DType::unknown, DType::float32), DType::unknown);
}

TEST(DTypes, SizesOfTheTable) {
  EXPECT_EQ(bytes_per_element(dtype_of("long int")), 8);
  EXPECT_EQ(bytes_per_element(dtype_of("c10::complex<float>")), 8);
  EXPECT_EQ(bytes_per_element(dtype_of("c10::complex<double>")), 16);
  EXPECT_EQ(bytes_per_element(dtype_of("short int")), 2);
  EXPECT_EQ(bytes_per_element(dtype_of("c10::Float8_e8m0fnu")), 1);
  EXPECT_EQ(values_per_element(dtype_of("c10::Float4_e2m1fn_x2")), 2);
  EXPECT_EQ(bytes_per_element(dtype_of("Scalar")), 0);
  EXPECT_EQ(dtype_of_code(15), DType::bfloat16);
  EXPECT_EQ(dtype_of_code(-3), DType::unknown);
}

}  // namespace
}  // namespace stepscope::derive
