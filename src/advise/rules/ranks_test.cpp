// Rules that compare ranks, on answers made by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "advise/collective_facts.h"
#include "advise/rules/families.h"

namespace stepscope::advise {
namespace {

/// One rank's step of 8 ms as stage 1 of 4, with `bubble` of it lost and 4 micro-batches: 3/7 would be.
std::optional<Claim> bubble(std::int64_t bubble) {
  Reports reports;
  report::Table stages{"Stages", report::Shape::table, {}};
  const auto add = [&](const char* name, std::int64_t value) {
    stages.ints(name, report::Unit::none).push_back(value);
  };
  add("rank", 1);
  add("stage", 1);
  add("stages", 4);
  add("pipeline", 0);
  add("micro_batches", 4);
  add("chunks", 1);
  add("length", 8'000'000);
  add("bubble", bubble);
  add("waiting", bubble / 2);
  stages.reals("bubble_share", report::Unit::share).push_back(static_cast<double>(bubble) / 8e6);
  stages.reals("ideal_share", report::Unit::share).push_back(3.0 / 7);
  reports.pipeline.tables.push_back(std::move(stages));
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N08; });
  return rule->find(Evidence(reports, 1, true), Bound::communication);
}

// Twice as many micro-batches halve the 3.2 ms; of 32 an eighth is left.
TEST(RankRules, APipelineWithFewMicroBatches) {
  const std::optional<Claim> found = bubble(3'200'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(
      found->title,
      "The 4 stages wait 40.0 % of the step for each other; 8 micro-batches instead of 4 would halve it");
  EXPECT_EQ(found->because, "filling and draining takes (4-1)/(4+4-1) = 42.9 % of the step");
  EXPECT_NE(found->remedy.find("; 32, 8 per stage, save up to 2.8 ms."), std::string::npos) << found->remedy;
  EXPECT_EQ(found->saving_high, 1'600'000);
  EXPECT_EQ(found->saving_low, 800'000);
  EXPECT_EQ(found->confidence, Confidence::medium);
}

// 3.43 ms are the ideal: of more than that only as much is saved, and 5 ms are not for filling and draining.
TEST(RankRules, ABubbleOfOtherCauses) {
  const std::optional<Claim> found = bubble(4'000'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->saving_high, 1'714'285);
  EXPECT_FALSE(bubble(5'000'000));
  EXPECT_FALSE(bubble(2'000'000));
}

/// What rank 0 says of rank 2, whose compute takes 18 ms of each step of 20 ms and that of the others 10.
Claim slow_rank_with(const SlowKernels& kernels) {
  Reports reports;
  report::Table slow{"Stragglers", report::Shape::table, {}};
  slow.texts("when").push_back("every step");
  slow.texts("part").push_back("compute");
  slow.texts("cost_by").push_back("replay");
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, std::int64_t>>{{"rank", 2},
                                                         {"time", 18'000'000},
                                                         {"others_time", 10'000'000},
                                                         {"apart", 30'000},
                                                         {"excess", 8'000'000},
                                                         {"cost", 7'900'000},
                                                         {"cost_low", 7'500'000},
                                                         {"cost_high", 8'500'000}})
    slow.ints(name, report::Unit::ns).push_back(value);
  report::Table of_kernels{"Kernels of stragglers", report::Shape::table, {}};
  of_kernels.ints("rank", report::Unit::none).push_back(2);
  of_kernels.ints("against", report::Unit::none).push_back(kernels.against);
  of_kernels.reals("calls", report::Unit::none).push_back(kernels.calls);
  of_kernels.reals("others_calls", report::Unit::none).push_back(kernels.others_calls);
  of_kernels.reals("same_share", report::Unit::share).push_back(kernels.same);
  of_kernels.reals("pace", report::Unit::none).push_back(kernels.pace);
  of_kernels.reals("even_share", report::Unit::share).push_back(kernels.even);
  reports.stragglers.tables = {std::move(slow), std::move(of_kernels)};
  Facts facts;
  facts.rank = 0;
  facts.window = 20'000'000;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N05; });
  return rule->find(Evidence(reports, 0, true), Bound::communication).value_or(Claim{});
}

// The replay's range is 7.5 to 8.5 ms, of which no more than the 8 ms are to be had.
TEST(RankRules, ASlowDeviceOrMoreWork) {
  const Claim device = slow_rank_with({1, 100, 100, 0.98, 1.8, 0.95});
  EXPECT_EQ(
      device.title,
      "Rank 2 takes 8.00 ms longer than the others in every step, and they wait for it: the same compute "
      "kernels, each about 1.80 times as long");
  EXPECT_EQ(
      device.because,
      "18.0 ms of compute per step against 10.0 ms on the other ranks, which differ by at most 30.0 µs");
  EXPECT_TRUE(device.remedy.starts_with("Not more work: a lower clock")) << device.remedy;
  EXPECT_EQ(device.saving_low, 6'000'000);
  EXPECT_EQ(device.saving_high, 8'000'000);
  const Claim more = slow_rank_with({1, 120, 100, 0.4, 1, 1});
  EXPECT_TRUE(more.title.ends_with(": 120 compute kernels per step, 100 on rank 1")) << more.title;
  EXPECT_TRUE(more.remedy.starts_with("Rank 2 has more or other work")) << more.remedy;
  EXPECT_TRUE(slow_rank_with({1, 100, 100, 0.4, 1, 1})
                  .title.ends_with(": compute kernels of other names or grids than on rank 1"));
  EXPECT_TRUE(slow_rank_with({1, 100, 100, 0.98, 1.8, 0.5})
                  .title.ends_with(": the same compute kernels, some of them longer"));
}

/// What rank 0 says of all-reduces that reach 1 GB/s at their fastest, of 10, and take 6 of 10 ms; by rank,
/// the share of its time in collectives that is waiting.
std::optional<Claim> slow_links_among(std::int64_t group, const std::vector<double>& waits) {
  Reports reports;
  const auto add = [](report::Table& table, const char* name, std::int64_t value) {
    table.ints(name, report::Unit::none).push_back(value);
  };
  report::Table sizes{"Collectives by size", report::Shape::table, {}};
  add(sizes, "rank", 0);
  sizes.texts("collective").push_back("all-reduce");
  add(sizes, "group_size", group);
  add(sizes, "bytes", 10'000'000);
  add(sizes, "count", 6);
  for (const char* name : {"total", "exposed"}) add(sizes, name, 6'000'000);
  add(sizes, "p50", 1'000'000);
  add(sizes, "brief", 0);
  add(sizes, "host", 0);
  sizes.reals("bus_rate", report::Unit::bytes_per_s).push_back(1e9);
  reports.collectives.tables.push_back(std::move(sizes));
  report::Table waiting{"Waiting in collectives", report::Shape::table, {}};
  report::Ints ranks, totals;
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    ranks.push_back(static_cast<std::int64_t>(rank));
    totals.push_back(6'000'000);
  }
  waiting.ints("rank", report::Unit::none) = ranks;
  waiting.ints("total", report::Unit::ns) = totals;
  for (auto& share = waiting.reals("wait_share", report::Unit::share); const double wait : waits)
    share.push_back(wait);
  reports.stragglers.tables.push_back(std::move(waiting));
  Facts facts;
  facts.rank = 0;
  facts.window = 10'000'000;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = communication_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N03; });
  return rule->find(Evidence(reports, 0, true), Bound::communication);
}

// Of 6 ms a fifth is waiting. What moves for 4.8 ms would take an eighth of that at the expected rate. With
// seven tenths of waiting even the fastest could be at a third of that rate.
TEST(RankRules, WaitsAreNoSlowLinks) {
  const std::optional<Claim> all = slow_links_among(3, {0.2, 0.2, 0.2});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->saving_high, 4'200'000);
  EXPECT_EQ(all->confidence, Confidence::medium);
  EXPECT_TRUE(all->because.starts_with("waiting for other ranks, 20.0 % of this rank's time"))
      << all->because;
  EXPECT_FALSE(slow_links_among(3, {0.7, 0.7, 0.7}));
}

// A rank that is not open may be late in every step.
TEST(RankRules, ALateRankLooksLikeSlowLinks) {
  const std::optional<Claim> some = slow_links_among(4, {0.7, 0.7, 0.7});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->confidence, Confidence::low);
  EXPECT_TRUE(some->title.ends_with(": slow links, or a rank that is late in every step")) << some->title;
  EXPECT_TRUE(some->because.starts_with("only 3 of the 4 ranks are open")) << some->because;
  EXPECT_TRUE(some->remedy.starts_with("Add the other ranks' files")) << some->remedy;
}

/// What rank 0 is told where ranks without a device wait so long in 10 collectives each, in a recording of 10
/// ms and one step, and rank 2 comes last to `last` of them.
std::optional<Claim> late_rank_among(const report::Ints& waits, std::int64_t last) {
  Reports reports;
  report::Table waiting{"Waiting in collectives", report::Shape::table, {}};
  report::Ints ranks, collectives, lasts;
  for (std::int64_t rank = 0; rank < std::ssize(waits); ++rank) {
    ranks.push_back(rank);
    collectives.push_back(10);
    lasts.push_back(rank == 2 ? last : rank == 1 ? 10 - last : 0);
  }
  waiting.ints("rank", report::Unit::none) = ranks;
  waiting.ints("collectives", report::Unit::count) = collectives;
  waiting.ints("last", report::Unit::count) = lasts;
  waiting.ints("waited", report::Unit::ns) = waits;
  reports.stragglers.tables.push_back(std::move(waiting));
  Facts facts;
  facts.rank = 0;
  facts.window = 10'000'000;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N05; });
  return rule->find(Evidence(reports, 0, true), Bound::host_only);
}

// Without rank 2 the others would still wait for rank 1, which waits 3 ms now.
TEST(RankRules, ALateRankWithoutADevice) {
  const std::optional<Claim> late = late_rank_among({4'000'000, 3'000'000, 0}, 6);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->title,
            "Rank 2 comes last to 6 of 10 collectives, and the others wait for it: 4.00 ms per step here");
  EXPECT_EQ(late->saving_low, 1'500'000);
  EXPECT_EQ(late->saving_high, 3'000'000);
  EXPECT_FALSE(late_rank_among({4'000'000, 3'000'000, 0}, 5));
  EXPECT_FALSE(late_rank_among({4'000'000, 290'000, 0}, 6));
}

}  // namespace
}  // namespace stepscope::advise
