// Rules that compare ranks, on answers made by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "advise/collective_facts.h"
#include "advise/pricing/pricing.h"
#include "advise/rules/families.h"

namespace stepscope::advise {
namespace {

/// The claim about stage 1 of 4, 4 micro-batches: its step of 8 ms loses `bubble` ns; ideally it loses 3/7.
std::optional<Claim> bubble(std::int64_t bubble) {
  Reports reports;
  analyze::PipelineStage stage{};
  stage.rank = 1;
  stage.stage = 1;
  stage.stages = 4;
  stage.micro_batches = 4;
  stage.chunks = 1;
  stage.length = 8'000'000;
  stage.bubble = bubble;
  stage.waiting = bubble / 2;
  stage.bubble_share = static_cast<double>(bubble) / 8e6;
  stage.ideal_share = 3.0 / 7;
  reports.job->pipeline.stages.push_back(stage);
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N08; });
  return rule->find(Evidence(reports, 1), Bound::communication);
}

// Twice as many micro-batches halve the 3.2 ms; 32 leave an eighth of it.
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

// The ideal bubble is 3.43 ms: at most half of that is saved. 5 ms have other causes than filling and
// draining.
TEST(RankRules, ABubbleOfOtherCauses) {
  const std::optional<Claim> found = bubble(4'000'000);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->saving_high, 1'714'285);
  EXPECT_FALSE(bubble(5'000'000));
  EXPECT_FALSE(bubble(2'000'000));
}

// The heaviest of 4 stages computes 130 ms of each step, the stages on average 100 ms.
TEST(RankRules, AHeavyStageIsNamedInPlaceOfMoreMicroBatches) {
  Reports reports;
  analyze::PipelineStage stage{};
  stage.rank = 1;
  stage.pipeline = 0;
  stage.micro_batches = stage.chunks = stage.steps = 1;
  stage.bubble_share = stage.ideal_share = 0.4;
  reports.job->pipeline.stages.push_back(stage);
  const auto found = [&](RuleId id) {
    for (const Rule& rule : rank_rules())
      if (rule.id == id) return rule.find(Evidence(reports, 1), Bound::communication);
    return std::optional<Claim>();
  };
  EXPECT_FALSE(found(RuleId::N13));
  EXPECT_TRUE(found(RuleId::N08));
  reports.job->pipeline.balance.push_back({0, 3, 3, 4, 4, 130'000'000, 100'000'000, 0.3, 25'000'000});
  EXPECT_FALSE(found(RuleId::N08));
  std::optional<Claim> heavy = found(RuleId::N13);
  ASSERT_TRUE(heavy);
  EXPECT_EQ(heavy->title,
            "Stage 3 of the pipeline, on rank 3, computes 130 ms in each step, 30.0 % more than the 4 stages "
            "on average: "
            "the others wait for it");
  EXPECT_EQ(heavy->saving_high, 25'000'000);
  EXPECT_EQ(heavy->saving_low, 12'500'000);
  reports.job->pipeline.balance[0].known = 3;  // a stage is not among the files
  EXPECT_EQ(found(RuleId::N13)->saving_low, 0);
  reports.job->pipeline.balance[0].beyond = 0.09;
  EXPECT_FALSE(found(RuleId::N13));
}

/// Rank 0's claim about rank 2, whose compute takes 18 ms of each step of 20 ms, and 10 ms on the others.
Claim slow_rank_with(const analyze::SlowKernels& kernels) {
  Reports reports;
  analyze::SlowRank slow;
  slow.rank = 2;
  slow.part = slow.also = derive::StepPart::compute;
  slow.of_part = {18'000'000, 10'000'000, 30'000};
  slow.excess = 8'000'000;
  slow.cost = 7'900'000;
  slow.cost_low = 7'500'000;
  slow.cost_high = 8'500'000;
  slow.by = analyze::CostBy::replay;
  reports.job->stragglers.slow.push_back(slow);
  reports.job->stragglers.kernels.push_back(kernels);
  Facts facts;
  facts.rank = 0;
  facts.window = 20'000'000;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N05; });
  return rule->find(Evidence(reports, 0), Bound::communication).value_or(Claim{});
}

// The replay's range is 7.5 to 8.5 ms, capped by the excess of 8 ms.
TEST(RankRules, ASlowDeviceOrMoreWork) {
  const Claim device = slow_rank_with({2, 1, 100, 100, 0.98, 1.8, 0.95});
  EXPECT_EQ(
      device.title,
      "Rank 2 takes 8.00 ms longer than the others in every step, and they wait for it: the same compute "
      "kernels, each about 1.80 times as long");
  EXPECT_EQ(
      device.because,
      "18.0 ms of compute per step against 10.0 ms on the other ranks, which differ by at most 30.0 µs");
  EXPECT_TRUE(device.remedy.starts_with("The work is the same: look for a lower clock")) << device.remedy;
  EXPECT_EQ(device.saving_low, 6'000'000);
  EXPECT_EQ(device.saving_high, 8'000'000);
  const Claim more = slow_rank_with({2, 1, 120, 100, 0.4, 1, 1});
  EXPECT_TRUE(more.title.ends_with(": 120 compute kernels per step, 100 on rank 1")) << more.title;
  EXPECT_TRUE(more.remedy.starts_with("Rank 2 has more or other work")) << more.remedy;
  EXPECT_TRUE(slow_rank_with({2, 1, 100, 100, 0.4, 1, 1})
                  .title.ends_with(": compute kernels with other names or grids than on rank 1"));
  EXPECT_TRUE(slow_rank_with({2, 1, 100, 100, 0.98, 1.8, 0.5})
                  .title.ends_with(": the same compute kernels, some of them longer"));
}

// Each costs 0.5 ms alone and both together 3 ms of 20: both are named, to the ranks that wait for them only.
TEST(RankRules, TwoSlowRanksAreNamedTogether) {
  Reports reports;
  for (const std::int64_t rank : {1, 4}) {
    analyze::SlowRank slow;
    slow.rank = rank;
    slow.part = slow.also = rank == 1 ? derive::StepPart::compute : derive::StepPart::input;
    slow.excess = 3'000'000 - rank * 100'000;
    slow.cost = slow.cost_high = 500'000;
    slow.cost_low = 0;
    reports.job->stragglers.slow.push_back(slow);
  }
  reports.job->stragglers.together = analyze::SlowTogether{{1, 4}, 3'000'000, 2'800'000, 3'100'000};
  for (const std::int64_t rank : {0, 4}) {
    Facts facts;
    facts.rank = rank;
    facts.window = 20'000'000;
    reports.overview.ranks.push_back(std::move(facts));
  }
  const auto found = [&](std::int64_t rank) {
    for (const Rule& rule : rank_rules())
      if (rule.id == RuleId::N05) return rule.find(Evidence(reports, rank), Bound::communication);
    return std::optional<Claim>();
  };
  const std::optional<Claim> both = found(0);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->title,
            "Ranks 1 and 4 take 2.60 ms or more longer than the others in every step, which wait for them");
  EXPECT_EQ(both->because, "rank 1: compute kernels; rank 4: loading data");
  EXPECT_EQ(both->saving_high, 3'000'000);
  EXPECT_FALSE(found(4));
  reports.job->stragglers.together->cost = 550'000;
  EXPECT_FALSE(found(0));
}

// Rank 4's loader costs it 3 ms, and the job 0.2 ms, as rank 1 is as late. On several ranks, slow or not,
// nothing is capped.
TEST(RankRules, AFindingOfOneSlowRankSavesWhatTheJobGains) {
  analyze::Stragglers stragglers;
  analyze::SlowRank slow;
  slow.rank = 4;
  slow.cost = 100'000;
  slow.cost_low = 0;
  slow.cost_high = 200'000;
  stragglers.slow.push_back(slow);
  std::vector<Ranked> findings(3);
  const auto set = [](Ranked& f, RuleId id, std::int64_t rank) {
    f.claim.id = id;
    f.claim.rank = rank;
    f.saving = {2'000'000, 3'000'000};
  };
  set(findings[0], RuleId::I02, 4);
  set(findings[1], RuleId::N01, 4);
  set(findings[2], RuleId::H01, 0);
  std::vector<Ranked> both(2);
  set(both[0], RuleId::I02, 4);
  set(both[1], RuleId::I02, 0);
  cap_by_job(findings, stragglers);
  EXPECT_EQ(findings[0].saving.low, 0);
  EXPECT_EQ(findings[0].saving.high, 200'000);
  ASSERT_EQ(findings[0].reasons.size(), 1u);
  EXPECT_EQ(findings[0].reasons[0], "the rank itself would save 3.00 ms, but other ranks come as late");
  EXPECT_EQ(findings[1].saving.high, 3'000'000);
  EXPECT_EQ(findings[2].saving.high, 3'000'000);
  cap_by_job(both, stragglers);
  EXPECT_EQ(both[0].saving.high, 3'000'000);
}

/// Rank 0's claim about all-reduces that reach 1 of 10 GB/s at their fastest and take 6 of 10 ms. `waits`: by
/// rank, the share of its time in collectives that is waiting.
std::optional<Claim> slow_links_among(std::int64_t group, const std::vector<double>& waits) {
  Reports reports;
  analyze::CollectiveSize size;
  size.rank = 0;
  size.exchange = derive::Exchange::all_reduce;
  size.group_size = group;
  size.bytes = 10'000'000;
  size.count = 6;
  size.total = size.exposed = 6'000'000;
  size.p50 = 1'000'000;
  size.bus_rate = 1e9;
  reports.collectives.sizes.push_back(size);
  for (const double share : waits) {
    analyze::RankWaits of;
    of.rank = std::ssize(reports.job->stragglers.waits);
    of.total = 6'000'000;
    of.wait_share = share;
    reports.job->stragglers.waits.push_back(of);
  }
  Facts facts;
  facts.rank = 0;
  facts.window = 10'000'000;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = communication_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N03; });
  return rule->find(Evidence(reports, 0), Bound::communication);
}

// A fifth of the 6 ms is waiting. At the expected rate, the other 4.8 ms would take an eighth of that. If
// seven tenths were waiting, even the fastest could run at a third of the expected rate.
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

/// Rank 0's claim if ranks without a device wait `waits` ns, by rank, in a recording of one step of 10 ms.
/// The forward pass takes `forward` on rank 2, and 1 ms on rank 0.
std::optional<Claim> late_rank_among(const report::Ints& waits, std::int64_t forward) {
  Reports reports;
  for (std::int64_t rank = 0; rank < std::ssize(waits); ++rank) {
    analyze::RankWaits of;
    of.rank = rank;
    of.collectives = 10;
    of.waited = waits[static_cast<std::size_t>(rank)];
    reports.job->stragglers.waits.push_back(of);
    const std::int64_t time = rank == 2 ? forward : 1'000'000;
    reports.phases.phases.push_back({rank, analyze::Phase::forward, time, time, 0, 0, 0, 0});
  }
  Facts facts;
  facts.rank = 0;
  facts.window = 10'000'000;
  facts.complete_steps = 1;
  reports.overview.ranks.push_back(std::move(facts));
  const auto rules = rank_rules();
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [](const Rule& r) { return r.id == RuleId::N05; });
  return rule->find(Evidence(reports, 0), Bound::host_only);
}

// Rank 2 waits 1 ms itself. Without it, the others would still wait for rank 1, which waits 3 ms now. Its
// forward pass exceeds rank 0's by 0.5 ms, a quarter of the 2 ms.
TEST(RankRules, ALateRankWithoutADevice) {
  const std::optional<Claim> late = late_rank_among({4'000'000, 3'000'000, 1'000'000}, 1'500'000);
  ASSERT_TRUE(late);
  EXPECT_EQ(
      late->title,
      "4.00 ms of 10.0 ms per step: this rank waits in collectives for rank 2, whose forward pass takes "
      "1.50 ms (1.00 ms here)");
  EXPECT_TRUE(late->remedy.starts_with("Give each rank as much work")) << late->remedy;
  EXPECT_EQ(late->saving_low, 666'666);
  EXPECT_EQ(late->saving_high, 1'333'333);
  const std::optional<Claim> unexplained = late_rank_among({4'000'000, 3'000'000, 1'000'000}, 1'400'000);
  ASSERT_TRUE(unexplained);
  EXPECT_TRUE(unexplained->title.ends_with("in collectives for rank 2")) << unexplained->title;
  EXPECT_FALSE(
      late_rank_among({4'000'000, 3'000'000, 1'600'000}, 1'500'000));  // waits half as long as rank 1
  EXPECT_FALSE(late_rank_among({4'000'000, 290'000, 0}, 1'500'000));
}

}  // namespace
}  // namespace stepscope::advise
