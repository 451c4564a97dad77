#include "report/text/notable.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope::report {
namespace {

using Rows = std::vector<std::size_t>;

Table of_ranks() {
  Table table{"Waits", Shape::table, {}};
  table.ints("rank", Unit::none, Tag::rank) = {0, 1, 2, 3, 4, 5};
  table.ints("wait", Unit::ns) = {100, 102, 98, 900, 101, kNoInt};
  table.reals("share", Unit::share) = {0.5, 0.5, 0.5, 0.5, 0.4, 0.5};
  return table;
}

// Rank 3 waits longest; rank 4 is the only one with another share, however small the difference.
TEST(Notable, RowsFurthestFromTheMedianInAnyColumn) {
  EXPECT_EQ(notable_rows(of_ranks(), 2), (Rows{3, 4}));
  EXPECT_EQ(notable_rows(of_ranks(), 9), (Rows{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(notable_rows(Table{}, 3), Rows{});
}

TEST(Notable, TheFirstRowsOfOtherTables) {
  Table table = of_ranks();
  EXPECT_EQ(printed_rows(table, 2), (Rows{3, 4}));
  EXPECT_EQ(printed_rows(table, 0).size(), 6u);
  EXPECT_EQ(printed_rows(table, 6).size(), 6u);
  table.columns.front().tag = Tag::none;
  EXPECT_EQ(printed_rows(table, 2), (Rows{0, 1}));
}

TEST(Notable, OnlyTablesWithARowPerRank) {
  Table table = of_ranks();
  EXPECT_TRUE(is_by_rank(table));
  table.texts("name") = {"a", "b", "c", "d", "e", "f"};
  EXPECT_FALSE(is_by_rank(table));
  EXPECT_FALSE(is_by_rank(Table{}));
}

}  // namespace
}  // namespace stepscope::report
