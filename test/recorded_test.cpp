// Runs every analysis on every trace: it ends, its columns have equal lengths, shares are shares.
#include "make_rank.h"
#include "support/traces.h"

namespace stepscope {
namespace {

void check_table(const report::Table& table, const std::string& where) {
  for (const report::Column& column : table.columns) {
    EXPECT_EQ(column.size(), table.rows()) << where << " " << column.name;
    const auto* reals = std::get_if<report::Reals>(&column.values);
    if (reals == nullptr) continue;
    for (std::size_t row = 0; row < reals->size(); ++row) {
      if (column.unit != report::Unit::share || column.missing(row)) continue;
      if (column.name == "share_of_roof")
        continue;  // data in a cache beats the memory's roof; it is flagged, not clamped
      const double share = (*reals)[row];
      EXPECT_TRUE(share >= 0 && share <= 1 + 1e-9) << where << " " << column.name << " " << share;
    }
  }
}

void check_answers(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::string one[] = {path};
    const Result<trace::Trace> trace = read::open(one);
    ASSERT_TRUE(trace.ok()) << path;
    for (const analyze::Analysis& analysis : advise::all_analyses()) {
      const std::string where = std::string(analysis.name) + " on " + path;
      const report::Report report = analyze::run(analysis, *trace, {});
      EXPECT_FALSE(report.tables.empty()) << where;
      for (const report::Table& table : report.tables) check_table(table, where + ", " + table.title);
    }
  }
}

TEST(Shipped, EveryAnalysisAnswers) { check_answers(test::shipped_traces()); }

TEST(Recorded, EveryAnalysisAnswers) {
  if (test::recorded_traces().empty()) GTEST_SKIP() << "no recorded traces: ../shared/traces is absent";
  check_answers(test::recorded_traces());
}

}  // namespace
}  // namespace stepscope
