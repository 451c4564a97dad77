#include "serve/tables.h"

#include <gtest/gtest.h>

namespace stepscope::serve {
namespace {

/// gemm 3, Gelu -, add 1.5, "" 1.
report::Table four_rows() {
  report::Table table{"Kernels", report::Shape::table, {}};
  table.texts("name") = {"gemm", "Gelu", "add", ""};
  table.reals("time", report::Unit::ns) = {3, report::kNoReal, 1.5, 1};
  return table;
}

std::string page(const PageOfTable& wanted) {
  return page_of(four_rows(), ordered_rows(four_rows(), wanted), wanted);
}

std::string answer(const std::string& rows, int matching, int from = 0) {
  return R"({"title":"Kernels","shape":"table","columns":[{"name":"name","unit":"","role":"key"},)"
         R"({"name":"time","unit":"ns","role":"value"}],"rows":[)" +
         rows + R"(],"total":4,"matching":)" + std::to_string(matching) + R"(,"from":)" +
         std::to_string(from) + "}\n";
}

TEST(TablePages, AreFiltered) {
  EXPECT_EQ(page({.filter = "gE"}), answer("\n[\"gemm\",3],\n[\"Gelu\",null]", 2));
  EXPECT_EQ(page({.filter = "1"}), answer("\n[\"add\",1.5],\n[null,1]", 2));
  EXPECT_EQ(page({.filter = "nan"}), answer("", 0));
}

TEST(TablePages, AreSortedWithAbsentValuesLast) {
  EXPECT_EQ(page({.sort = "time"}), answer("\n[null,1],\n[\"add\",1.5],\n[\"gemm\",3],\n[\"Gelu\",null]", 4));
  EXPECT_EQ(page({.sort = "time", .descending = true}),
            answer("\n[\"gemm\",3],\n[\"add\",1.5],\n[null,1],\n[\"Gelu\",null]", 4));
  EXPECT_EQ(page({.sort = "name"}), answer("\n[\"Gelu\",null],\n[\"add\",1.5],\n[\"gemm\",3],\n[null,1]", 4));
}

TEST(TablePages, AreCutLast) {
  EXPECT_EQ(page({.sort = "time", .filter = "m", .from = 0, .count = 1}), answer("\n[\"gemm\",3]", 1));
  EXPECT_EQ(page({.from = 1, .count = 2}), answer("\n[\"Gelu\",null],\n[\"add\",1.5]", 4, 1));
  EXPECT_EQ(page({.from = 9}), answer("", 4, 9));
  EXPECT_EQ(page({.from = 3, .count = 0}), answer("", 4, 3));
}

TEST(TablePages, AreAskedForInTheQuery) {
  report::Given query = {
      {"sort", "time"}, {"descending", ""}, {"step", "3"}, {"count", "99999"}, {"from", "7"}};
  const PageOfTable page = take_page(query);
  EXPECT_EQ(page.sort, "time");
  EXPECT_TRUE(page.descending);
  EXPECT_EQ(page.from, 7u);
  EXPECT_EQ(page.count, 10'000u);
  EXPECT_EQ(query, (report::Given{{"step", "3"}}));
  for (const char* wrong : {"-1", "", "x", "1x", "99999999999"}) {
    report::Given from = {{"from", wrong}};
    EXPECT_THROW(take_page(from), Refusal) << wrong;
  }
}

TEST(TablePages, ThereIsNoSuchColumn) { EXPECT_THROW(page({.sort = "times"}), Refusal); }

}  // namespace
}  // namespace stepscope::serve
