#include "compare/table_difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "make_rank.h"

namespace stepscope::compare {
namespace {

using report::Role;
using report::Table;
using report::Unit;
using test::Cells;
using test::cells;

/// Calls and times of some names.
Table kernels(std::initializer_list<std::pair<const char*, double>> rows) {
  Table table{"Kernels", report::Shape::table, {}};
  report::Texts& name = table.texts("name");
  report::Ints& calls = table.ints("calls", Unit::count);
  report::Reals& total = table.reals("total", Unit::ns);
  for (const auto& [text, time] : rows) {
    name.emplace_back(text);
    calls.push_back(2);
    total.push_back(time);
  }
  return table;
}

TEST(TableDifference, KeysJoinRowsAndStepsAreSamples) {
  TableSamples a, b;
  for (const double jitter : {0.0, 2.0, 1.0, 3.0, 0.0}) {
    a.add(kernels({{"slow", 100 + jitter}, {"same", 50 + jitter}, {"old", 10}}));
    b.add(kernels({{"slow", 120 + jitter}, {"same", 50.5 + jitter}, {"fresh", 30}}));
  }
  const Table table = difference(a, b, 5, 5, 200);
  EXPECT_EQ(cells(table, "name"), (Cells{"fresh", "slow", "old", "same"}));
  EXPECT_EQ(cells(table, "state"), (Cells{"new", "changed", "gone", "within noise"}));
  EXPECT_EQ(cells(table, "total_a"), (Cells{"-", "101.2", "10", "51.2"}));
  EXPECT_EQ(cells(table, "total_b"), (Cells{"30", "121.2", "-", "51.7"}));
  EXPECT_EQ(cells(table, "total_change"), (Cells{"-", "20", "-", "0.5"}));
  EXPECT_EQ(cells(table, "calls_change"), (Cells{"-", "0", "-", "0"}));
}

// The program was edited, and lies in another folder: its rows are the same places.
TEST(TableDifference, MovedLinesAreJoinedInOrder) {
  TableSamples a, b;
  a.add(kernels({{"/a/net.py(7): forward", 10},
                 {"/a/net.py(70): forward", 40},
                 {"/a/net.py(9): loss", 5},
                 {"/a/run.py(1): main;/a/net.py(2): f", 3},
                 {"/a/opt.py(1): step", 1},
                 {"/a/opt.py(2): step", 2},
                 {"/same.py(3): g", 8}}));
  b.add(kernels({{"/b/net.py(80): forward", 41},
                 {"/b/net.py(17): forward", 11},
                 {"/b/net.py(19): other", 6},
                 {"/b/run.py(4): main;/b/net.py(5): f", 4},
                 {"/b/opt.py(2): step", 2},
                 {"/same.py(3): g", 9}}));
  const Table table = difference(a, b, 1, 1, 100);
  std::map<std::string, std::string> joined;
  const Cells name = cells(table, "name"), of_a = cells(table, "total_a"), of_b = cells(table, "total_b");
  for (std::size_t row = 0; row < name.size(); ++row) joined[name[row]] = of_a[row] + " " + of_b[row];
  const std::map<std::string, std::string> expected = {{"/a/net.py(7): forward", "10 11"},
                                                       {"/a/net.py(70): forward", "40 41"},
                                                       {"/a/net.py(9): loss", "5 -"},
                                                       {"/b/net.py(19): other", "- 6"},
                                                       {"/a/run.py(1): main;/a/net.py(2): f", "3 4"},
                                                       {"/a/opt.py(1): step", "1 -"},
                                                       {"/a/opt.py(2): step", "2 2"},
                                                       {"/same.py(3): g", "8 9"}};
  EXPECT_EQ(joined, expected);
}

// A job has a column more than a single rank.
TEST(TableDifference, OtherKeysAreAnotherTable) {
  Table of_job = kernels({{"gemm", 10}});
  of_job.ints("rank", Unit::none, Role::key) = {0};
  EXPECT_FALSE(alike(kernels({{"gemm", 10}}), of_job));
  EXPECT_TRUE(alike(kernels({{"gemm", 10}}), kernels({{"nccl", 20}})));
}

TEST(TableDifference, NumbersAreComparedByName) {
  Table more = kernels({{"gemm", 10}});
  more.ints("flops", Unit::count) = {7};
  std::rotate(more.columns.begin() + 1, more.columns.end() - 1,
              more.columns.end());  // name, flops, calls, total
  TableSamples a, b;
  a.add(kernels({{"gemm", 10}}));
  b.add(more);
  for (const auto& [x, y] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    const Table table = difference(*x, *y, 1, 1, 200);
    EXPECT_EQ(cells(table, "calls_change"), Cells{"0"});
    EXPECT_EQ(cells(table, "total_a"), Cells{"10"});
    EXPECT_EQ(table.columns.size(), 8U);
  }
}

TEST(TableDifference, KeysMayBeFractions) {
  Table table{"If transfers took less", report::Shape::table, {}};
  table.reals("factor", Unit::none, Role::key) = {0.8, 0.2, 1};
  table.ints("step", Unit::ns) = {90, 60, 100};
  TableSamples a, b;
  a.add(table);
  b.add(table);
  Cells keys = cells(difference(a, b, 1, 1, 100), "factor");
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(keys, (Cells{"0.2", "0.8", "1"}));
}

TEST(TableDifference, RowsOfATreeAreTheirPaths) {
  const auto tree = [](double of_second) {
    Table table{"Tree", report::Shape::tree, {}};
    report::Texts& name = table.texts("name");
    report::Ints& depth = table.ints("depth", Unit::none, Role::depth);
    report::Reals& time = table.reals("time", Unit::ns);
    const std::pair<const char*, int> rows[] = {{"a", 0}, {"x", 1}, {"b", 0}, {"x", 1}};
    for (const auto& [text, level] : rows) {
      name.emplace_back(text);
      depth.push_back(level);
      time.push_back(table.rows() == 4 ? of_second : 10);
    }
    return table;
  };
  TableSamples a, b;
  for (int i = 0; i < 4; ++i) {
    a.add(tree(10 + i));
    b.add(tree(40 + i));
  }
  const Table table = difference(a, b, 4, 4, 100);
  EXPECT_EQ(cells(table, "time_change"), (Cells{"30", "0", "0", "0"}));
  EXPECT_EQ(cells(table, "state")[0], "changed");
}

TEST(TableDifference, OnlyWhatAnotherRunHasTooIsJoined) {
  EXPECT_TRUE(joins(kernels({})));
  Table events = kernels({});
  events.columns.front().tag = report::Tag::of_one_run;
  EXPECT_FALSE(joins(events));
  Table times{"Gaps", report::Shape::table, {}};
  times.ints("start", Unit::ns, report::Tag::of_one_run);
  times.ints("length", Unit::ns);
  EXPECT_FALSE(joins(times));
  Table facts{"Facts", report::Shape::table, {}};
  facts.texts("fact");
  EXPECT_FALSE(joins(facts));  // nothing to compare
}

}  // namespace
}  // namespace stepscope::compare
