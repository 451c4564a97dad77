#include "report/append.h"

#include <gtest/gtest.h>

namespace stepscope::report {
namespace {

Report of_rank(std::int64_t rank, std::int64_t time, std::string note) {
  Report report{"kernels", {}, {"Said of all.", std::move(note)}};
  Table table{"Kernels", Shape::table, {}};
  table.ints("rank", Unit::none, Role::key) = {rank};
  table.ints("time", Unit::ns) = {time};
  report.tables.push_back(std::move(table));
  return report;
}

TEST(Append, RowsOfTheSameTableAndNotesOnce) {
  Report all;
  append(all, of_rank(0, 5, "Of rank 0."));
  append(all, of_rank(1, 7, "Of rank 1."));
  EXPECT_EQ(all.name, "kernels");
  ASSERT_EQ(all.tables.size(), 1u);
  EXPECT_EQ(std::get<Ints>(all.tables[0].columns[0].values), (Ints{0, 1}));
  EXPECT_EQ(std::get<Ints>(all.tables[0].columns[1].values), (Ints{5, 7}));
  EXPECT_EQ(all.notes, (std::vector<std::string>{"Said of all.", "Of rank 0.", "Of rank 1."}));
}

TEST(Append, TablesWithOtherColumnsStandApart) {
  Report all = of_rank(0, 5, "");
  Report other = of_rank(1, 7, "");
  other.tables[0].texts("more") = {"x"};
  append(all, std::move(other));
  ASSERT_EQ(all.tables.size(), 2u);
  EXPECT_EQ(all.tables[0].rows(), 1u);
}

}  // namespace
}  // namespace stepscope::report
