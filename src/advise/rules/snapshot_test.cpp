// The first finding about small memory snapshots with one fault each.
#include <gtest/gtest.h>

#include "advice_checks.h"
#include "analyze/memory/made_snapshot_for_test.h"

namespace stepscope {
namespace {

using test::kMiB;
using test::leaking;
using test::split;

std::string first_finding(const trace::Trace& trace) {
  const report::Table table = test::advice_on(trace).tables[1];
  return table.rows() == 0 ? "" : test::cells(table, "id")[0];
}

TEST(SnapshotAdvice, NamesTheFault) {
  EXPECT_EQ(first_finding(leaking(10, true).open()), "A06");
  EXPECT_EQ(first_finding(leaking(10, false).open()), "");
  EXPECT_EQ(first_finding(split(20 * kMiB, 4 * kMiB).open()), "A07");
  EXPECT_EQ(first_finding(split(31 * kMiB, 0).open()), "A09");
  EXPECT_EQ(first_finding(split(31 * kMiB, 100 * kMiB).open()), "A10");
}

TEST(SnapshotAdvice, SaysWhoHoldsThePeak) {
  const report::Report report = test::advice_on(leaking(10, false).open());
  EXPECT_EQ(test::cells(report.tables[0], "bound"), test::Cells{"memory"});
  EXPECT_EQ(test::cells(report.tables[0], "outcome"), test::Cells{"nothing is wrong"});
  EXPECT_EQ(test::cells(report.tables[0], "headline")[0].substr(0, 44),
            "Tensors asked for 3.91 KiB at the peak; the ");
}

}  // namespace
}  // namespace stepscope
