#include "report/page.h"

#include <gtest/gtest.h>

#include "made_reports.h"
#include "report/judgement.h"
#include "report/series.h"
#include "report/text/heat.h"
#include "report/text/text.h"

namespace stepscope::report {
namespace {

TEST(Page, OrderIsVerdictWholeFindingsHealthRest) {
  Page page;
  page.verdict = test::made_verdict();
  page.reports = {as_report(*page.verdict), test::made_kernels(), test::made_steps()};
  const std::string text = to_text(page, {120, false, 0});
  std::size_t at = 0;
  for (const char* part : {"Host-bound: ", "Average step", "What to change", "! Q02", "! Step 11 is cut off",
                           "\nKernels\n", "\nStep time by what the time went to\n"}) {
    EXPECT_NE(text.find(part, at), std::string::npos) << part << " in\n" << text;
    at = std::min(text.find(part, at), text.size());
  }
  EXPECT_EQ(text.find("Health"), std::string::npos);  // the verdict's tables are for machines
}

TEST(Page, NotesAreSaidOnce) {
  Page page{"", {{"a", {}, {"x", "y"}}, {"b", {}, {"y", "z"}}}, {}};
  EXPECT_EQ(notes_of(page), (std::vector<std::string>{"x", "y", "z"}));
}

TEST(Page, FactsSayEachThingOnce) {
  EXPECT_EQ(facts_of(test::made_verdict().ranks[0]), (std::vector<std::string>{"6 steps of 178 ms"}));
  RankVerdict rank;
  EXPECT_EQ(facts_of(rank), (std::vector<std::string>{"no step marks"}));
  rank.step = 1000000;
  rank.steps = 1;
  EXPECT_EQ(facts_of(rank), (std::vector<std::string>{"1 step of 1.00 ms"}));
  rank.found_by = "aten::mm";
  EXPECT_EQ(facts_of(rank), (std::vector<std::string>{"1 step of 1.00 ms, found by aten::mm"}));
}

TEST(Page, PartsNeedAWhole) {
  const Report steps = test::made_steps();
  EXPECT_EQ(parts_of(steps.tables[1]).size(), 8u);
  EXPECT_TRUE(parts_of(steps.tables[0]).empty());
  EXPECT_TRUE(parts_of(test::made_kernels().tables[0]).empty());
  Table even{"Even", Shape::bars, {}};
  even.texts("name") = Texts(12, "part");
  even.ints("calls", Unit::count) = Ints(12, 7);
  even.ints("time", Unit::ns) = Ints(12, 1000);
  even.reals("share", Unit::share, Role::share) = Reals(12, 1.0 / 12);
  ASSERT_EQ(parts_of(even).size(), 12u);
  EXPECT_EQ(parts_of(even)[0].amount, "1.00 µs");
  Table many{"Many", Shape::bars, {}};
  many.texts("name") = Texts(13, "part");
  many.reals("share", Unit::share, Role::share) = Reals(13, 1.0 / 13);
  EXPECT_TRUE(parts_of(many).empty());
}

TEST(Page, StacksAreTheNamedPartsOfATotal) {
  const Report steps = test::made_steps();
  const auto stack = stack_of(steps.tables[0]);
  ASSERT_TRUE(stack.has_value());
  EXPECT_EQ(stack->parts.size(), 8u);
  ASSERT_NE(stack->whole, nullptr);
  EXPECT_EQ(stack->whole->name, "total");
  EXPECT_EQ(bar_length(*stack, 0), 178030000);
  EXPECT_EQ(label_of(*stack, 0), "step 5");
  EXPECT_FALSE(stack_of(steps.tables[1]).has_value());
  EXPECT_FALSE(stack_of(test::made_kernels().tables[0]).has_value());
}

TEST(Series, GroupsByTheOtherKeys) {
  Table table{"t", Shape::curve, {}};
  table.ints("device", Unit::none, Role::key) = {0, 1, 0, 1, 0};
  table.ints("time", Unit::ns, Role::key) = {20, 10, 10, 30, kNoInt};
  table.reals("busy", Unit::share) = {0.2, 0.5, 0.1, kNoReal, 0.9};
  const Curves curves = curves_of(table, 8);
  ASSERT_EQ(curves.series.size(), 2u);
  EXPECT_EQ(curves.x->name, "time");
  EXPECT_EQ(curves.series[0].name, "busy · device 0");
  EXPECT_EQ(curves.series[0].x, (std::vector<double>{10, 20}));
  EXPECT_EQ(curves.series[0].y, (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(curves.series[1].y, (std::vector<double>{0.5}));
  EXPECT_EQ(curves_of(table, 1).left_out, 1u);
}

TEST(Series, ColumnsKeepTheSpikeAndHoldValues) {
  const Series series{"y", Unit::none, {0, 49.9, 50, 50.1, 100}, {1, 1, 9, 1, 1}};
  const std::vector<Span> spans = spans_of(series, {0, 100}, 11);
  EXPECT_EQ(spans[5].high, 9);
  EXPECT_EQ(spans[5].low, 1);
  for (const std::size_t held : {1u, 4u, 7u, 10u}) EXPECT_EQ(spans[held].high, 1) << held;
}

TEST(Heat, PlacesEachPairOnce) {
  const Report ranks = test::made_ranks();
  const auto heat = heat_of(ranks.tables[0], 100, 100);
  ASSERT_TRUE(heat.has_value());
  EXPECT_EQ(heat->lines.size(), 8u);
  EXPECT_EQ(heat->columns.size(), 12u);
  EXPECT_EQ(heat->row_at[5 * 12 + 3], 5u * 12 + 3);
  EXPECT_EQ(heat->least, 178000000);
  EXPECT_FALSE(heat_of(ranks.tables[0], 100, 11).has_value());
  Report twice = test::made_ranks();
  std::get<Ints>(twice.tables[0].columns[1].values)[1] = 0;
  EXPECT_FALSE(heat_of(twice.tables[0], 100, 100).has_value());
}

TEST(Page, PartsAreNamedByAllTheirTexts) {
  Table table{"Ledger", Shape::bars, {}};
  table.texts("state") = {"compute", "idle", "idle"};
  table.texts("cause") = {"", "input", "op"};
  table.ints("time", Unit::ns) = {50, 30, 20};
  table.reals("share", Unit::share, Role::share) = {0.5, 0.3, 0.2};
  const std::vector<Part> parts = parts_of(table);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].name, "compute");
  EXPECT_EQ(parts[1].name, "idle input");
  EXPECT_EQ(parts[2].name, "idle op");
}

}  // namespace
}  // namespace stepscope::report
