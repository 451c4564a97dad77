#include "collect/torch/padding.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope::collect {
namespace {

using Batch = std::vector<std::int64_t>;

std::vector<std::int64_t> found(const Batch& batch, std::optional<std::int64_t> known = {}) {
  const auto of = padding_of<std::int64_t>(batch, 8, known);
  if (!of) return {};
  return {of->elements, of->padding, of->shared};
}

using Counts = std::vector<std::int64_t>;

TEST(Padding, AtTheEndsOfRows) {
  EXPECT_EQ(found({5, 6, 7, 0, 0, 0, 0, 0,  //
                   5, 6, 7, 8, 9, 0, 0, 0}),
            (Counts{16, 8, 6}));
  EXPECT_EQ(found({5, 6, 7, 8, 9, 5, 5, 2,  //
                   5, 6, 7, 8, 9, 0, 0, 0}),
            (Counts{16, 3, 0}));
}

TEST(Padding, AtTheBeginsOfRows) {
  EXPECT_EQ(found({1, 1, 1, 5, 9, 7, 8, 9,  //
                   1, 1, 1, 1, 1, 6, 7, 9}),
            (Counts{16, 8, 6}));
}

TEST(Padding, OneRow) { EXPECT_EQ(found({4, 9, 3, 1, 1, 1, 1, 1}), (Counts{8, 5, 5})); }

// The index that the embedding declares is counted alone, also where it is in a row once.
TEST(Padding, OfADeclaredIndex) {
  const Batch batch = {5, 6, 7, 3, 3, 3, 3, 3,  //
                       5, 6, 7, 8, 9, 5, 5, 0};
  EXPECT_EQ(found(batch, 0), (Counts{16, 1, 0}));
  EXPECT_EQ(found(batch), (Counts{16, 5, 0}));
  EXPECT_EQ(found(batch, 77), (Counts{16, 0, 0}));
}

// A last token that all rows share is no padding, and a row that is one value counts if others are not.
TEST(Padding, SharedLastToken) {
  EXPECT_EQ(found({5, 6, 7, 8, 9, 5, 7, 2,  //
                   6, 5, 7, 9, 9, 6, 8, 2}),
            (Counts{16, 0, 0}));
  EXPECT_EQ(found({0, 0, 0, 0, 0, 0, 0, 0,  //
                   6, 5, 7, 9, 9, 6, 0, 0}),
            (Counts{16, 10, 4}));
}

TEST(Padding, NoText) {
  EXPECT_EQ(found({0, 0, 0, 0, 0, 0, 0, 0,  //
                   1, 1, 1, 1, 1, 1, 1, 1}),
            Counts{});
  EXPECT_EQ(found({3, 4, 5, 6, 7, 8, 9, 10}), Counts{});
  EXPECT_EQ(found({}), Counts{});
  EXPECT_EQ(found({1, 2, 3}), Counts{});
  EXPECT_FALSE(padding_of<std::int64_t>(Batch{1, 3, 0, 0}, 4, {}));
}

}  // namespace
}  // namespace stepscope::collect
