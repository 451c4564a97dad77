// Rules that compare ranks, on answers made by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "advise/families.h"

namespace stepscope::advise {
namespace {

/// One rank's step of 8 ms as stage 1 of 4, with `bubble` of it lost and 4 micro-batches: 3/7 would be.
std::optional<Finding> bubble(std::int64_t bubble) {
  Reports reports;
  report::Table stages{"Stages", report::Shape::table, {}};
  const auto add = [&](const char* name, std::int64_t value) {
    stages.ints(name, report::Unit::none).push_back(value);
  };
  add("rank", 1);
  add("stage", 1);
  add("stages", 4);
  add("micro_batches", 4);
  add("length", 8'000'000);
  add("bubble", bubble);
  add("waiting", bubble / 2);
  stages.reals("bubble_share", report::Unit::share).push_back(static_cast<double>(bubble) / 8e6);
  stages.reals("ideal_share", report::Unit::share).push_back(3.0 / 7);
  reports.pipeline.tables.push_back(std::move(stages));
  const auto rules = rank_rules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == "N08"; });
  return rule->find(Evidence(reports, 1, true), Bound::communication);
}

// Twice as many micro-batches halve the 3.2 ms.
TEST(RankRules, APipelineWithFewMicroBatches) {
  const std::optional<Finding> found = bubble(3'200'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->title, "Stage 1 idles 40.0 % of the step: 4 micro-batches for 4 stages");
  EXPECT_EQ(found->saving_high, 1'600'000);
  EXPECT_EQ(found->saving_low, 800'000);
  EXPECT_EQ(found->confidence, Confidence::medium);
}

// 3.43 ms are the ideal: of more than that only as much is saved, and 5 ms are not for filling and draining.
TEST(RankRules, ABubbleOfOtherCauses) {
  const std::optional<Finding> found = bubble(4'000'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->saving_high, 1'714'285);
  EXPECT_FALSE(bubble(5'000'000));
  EXPECT_FALSE(bubble(2'000'000));
}

}  // namespace
}  // namespace stepscope::advise
