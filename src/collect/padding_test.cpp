#include "collect/torch/padding.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope::collect {
namespace {

using Counts = std::vector<std::int64_t>;
using Tokens = std::vector<std::int64_t>;

/// Elements, padding and shared padding of rows of 8; empty for no text.
Counts found(const Tokens& tokens, std::optional<std::int64_t> known = {}) {
  const auto rows = static_cast<std::int64_t>(tokens.size() / 8);
  const auto of = padding_of<std::int64_t>({tokens.data(), rows, 8, 8, 1}, known);
  if (!of) return {};
  return {of->elements, of->padding, of->shared};
}

TEST(Padding, AtTheEndsOfRows) {
  EXPECT_EQ(found({500, 600, 700, 0, 0, 0, 0, 0,  //
                   500, 600, 700, 800, 900, 0, 0, 0}),
            (Counts{16, 8, 6}));
  EXPECT_EQ(found({500, 600, 700, 800, 900, 501, 502, 2,  //
                   500, 600, 700, 800, 900, 0, 0, 0}),
            (Counts{16, 3, 0}));
}

TEST(Padding, AtTheBeginsOfRows) {
  EXPECT_EQ(found({1, 1, 1, 500, 900, 700, 800, 900,  //
                   1, 1, 1, 1, 1, 600, 700, 901}),
            (Counts{16, 8, 6}));
}

TEST(Padding, OneRow) { EXPECT_EQ(found({400, 900, 300, 1, 1, 1, 1, 1}), (Counts{8, 5, 5})); }

// The declared index is counted alone, also where it is in a row once; if there is none of it, another is.
TEST(Padding, OfADeclaredIndex) {
  const Tokens tokens = {500, 600, 700, 3,   3,   3,   3,   3,  //
                         500, 600, 700, 800, 900, 501, 502, 0};
  EXPECT_EQ(found(tokens, 0), (Counts{16, 1, 0}));
  EXPECT_EQ(found(tokens), (Counts{16, 5, 0}));
  EXPECT_EQ(found(tokens, 77), (Counts{16, 5, 0}));
}

// A last token that all rows share is no padding, and a row that is one value counts if others are not.
TEST(Padding, SharedLastToken) {
  EXPECT_EQ(found({500, 600, 700, 800, 900, 501, 701, 2,  //
                   600, 500, 701, 901, 902, 601, 801, 2}),
            (Counts{16, 0, 0}));
  EXPECT_EQ(found({0, 0, 0, 0, 0, 0, 0, 0,  //
                   600, 500, 700, 900, 901, 601, 0, 0}),
            (Counts{16, 10, 4}));
}

// Eight sequences, one per column, in ten rows: four of three tokens, four of four.
TEST(Padding, SequencesInColumns) {
  Tokens tokens;
  for (int word = 0; word < 10; ++word)
    for (int sequence = 0; sequence < 8; ++sequence)
      tokens.push_back(word < 3 + sequence % 2 ? 300 + 10 * sequence + word : 0);
  const auto of = padding_of<std::int64_t>({tokens.data(), 10, 8, 8, 1}, {});
  ASSERT_TRUE(of);
  EXPECT_EQ((Counts{of->elements, of->padding, of->shared}), (Counts{80, 52, 48}));
}

// tokens[:, :-1] of rows of 9.
TEST(Padding, PartsOfRows) {
  const Tokens tokens = {500, 600, 700, 800, 0, 0, 0, 0, 0, 501, 601, 701, 801, 901, 0, 0, 0, 0};
  const auto of = padding_of<std::int64_t>({tokens.data(), 2, 8, 9, 1}, {});
  ASSERT_TRUE(of);
  EXPECT_EQ((Counts{of->elements, of->padding, of->shared}), (Counts{16, 7, 6}));
}

TEST(Padding, NoText) {
  EXPECT_EQ(found({0, 0, 0, 0, 0, 0, 0, 0, 255, 1, 1, 1, 1, 1, 1, 1}), Counts{});  // classes
  EXPECT_EQ(found({-100, -100, 500, 600, 700, 800, 900, 901}), Counts{});          // labels
  EXPECT_EQ(found({300, 301, 302, 303, 304, 305, 306, 307}), Counts{});            // positions
  EXPECT_EQ(found({}), Counts{});
  const Tokens short_rows = {500, 300, 0, 0};
  EXPECT_EQ(padding_of<std::int64_t>({short_rows.data(), 1, 4, 4, 1}, {})->padding, 0);
}

TEST(Padding, CopiesAreTakenOnceByShape) {
  Copied copied;
  copied.add(4, 12, {48, 28, 16});
  copied.add(4, 12, {48, 20, 8});
  copied.add(3, 12, {36, 1, 0});
  EXPECT_EQ(copied.take(4, 12)->padding, 20);
  EXPECT_EQ(copied.take(4, 12)->padding, 28);
  EXPECT_FALSE(copied.take(4, 12));
  EXPECT_FALSE(copied.take(4, 13));
}

}  // namespace
}  // namespace stepscope::collect
