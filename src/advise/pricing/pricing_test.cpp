// The stages of pricing, on a made-up rank whose step is a row of pieces.
#include "advise/pricing/pricing.h"

#include <gtest/gtest.h>

namespace stepscope::advise {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A step of pieces of 10 ms each, run on two lanes at once: even pieces on the device, odd ones on the host.
/// The step takes as long as the longer lane.
constexpr std::size_t kPieces = 10;

Change change(std::initializer_list<std::pair<std::size_t, double>> factors) {
  Change out{{}, true};
  out.changes.device.assign(kPieces, 1);
  for (const auto& [piece, factor] : factors) out.changes.device[piece] = factor;
  return out;
}

std::int64_t length(const Change& change) {
  double lanes[2] = {0, 0};
  for (std::size_t i = 0; i < kPieces; ++i)
    lanes[i % 2] += 10 * (change.changes.device.empty() ? 1 : change.changes.device[i]);
  return static_cast<std::int64_t>(std::max(lanes[0], lanes[1]) * kMs);
}

/// The host lane is one piece shorter, so that the device limits by 10 ms.
Change recorded() { return change({{9, 0}}); }

/// A scale names a piece by its number.
Replays replays() {
  Replays out;
  out.usable = true;
  out.change_of = [](std::span<const analyze::Scale> scales) {
    Change all;
    for (const analyze::Scale& scale : scales)
      if (scale.name != "absent") all.add(change({{std::stoul(scale.name), scale.factor}}));
    return all;
  };
  out.saved = [](const Change& given) -> Saved {
    if (!given.found) return {};
    Change with = recorded();
    with.add(given);
    const std::int64_t saved = length(recorded()) - length(with);
    return {saved, saved};
  };
  out.limit_behind = [](const Change&, std::int64_t) { return "the host does"; };
  return out;
}

Replays no_replays() {
  Replays out;
  out.unusable = "7.00 % off even without changes";
  out.saved = [](const Change&) { return Saved{}; };
  return out;
}

/// A step of 50 ms with 10 ms of compute.
Basis basis() {
  Basis out;
  out.step = 50 * kMs;
  out.steps = 4;
  out.most = 40 * kMs;
  out.has_device = true;
  return out;
}

std::vector<analyze::Scale> without(std::initializer_list<const char*> pieces, double factor = 0) {
  std::vector<analyze::Scale> scales;
  for (const char* piece : pieces)
    scales.push_back({.what = analyze::Scale::What::kernel, .factor = factor, .name = piece});
  return scales;
}

Claim claim(RuleId id, std::vector<analyze::Scale> ideal, std::int64_t low = 0, std::int64_t high = 0) {
  Claim out;
  out.id = id;
  out.ideal = std::move(ideal);
  out.saving_low = low;
  out.saving_high = high;
  out.confidence = Confidence::high;
  out.because = "it is seen";
  return out;
}

Priced alone(const Claim& claim, const Replays& replays, const Basis& basis) {
  return priced_alone(claim, tried({claim}, replays, 1).front(), basis, replays);
}

std::vector<Ranked> priced(std::vector<Claim> claims) {
  return price(std::move(claims), basis(), replays(), 1).findings;
}

void expect_range(const Range& range, std::int64_t low, std::int64_t high) {
  EXPECT_EQ(range.low, low);
  EXPECT_EQ(range.high, high);
}

// Without one piece on the device, both lanes take equally long.
TEST(PriceAlone, TheReplayDecides) {
  Claim c = claim(RuleId::S01, without({"0"}), kMs, 30 * kMs);
  c.pessimism = 0.5;
  const Priced p = alone(c, replays(), basis());
  EXPECT_TRUE(p.by_replay);
  expect_range(p.saving, 5 * kMs, 10 * kMs);
  EXPECT_EQ(p.confidence, Confidence::high);
  EXPECT_TRUE(p.reasons.empty());
}

TEST(PriceAlone, AMildFormIsTheLowEnd) {
  Claim c = claim(RuleId::S01, without({"0"}));
  c.mild = without({"0"}, 0.8);
  expect_range(alone(c, replays(), basis()).saving, 2 * kMs, 10 * kMs);
}

// A change that matches nothing in the rank: the estimate stays, with the same confidence.
TEST(PriceAlone, AnEstimateWhereNothingIsFound) {
  const Priced p = alone(claim(RuleId::S01, without({"absent"}), 2 * kMs, 3 * kMs), replays(), basis());
  EXPECT_FALSE(p.by_replay);
  EXPECT_TRUE(p.claim.ideal.empty());
  expect_range(p.saving, 2 * kMs, 3 * kMs);
  EXPECT_EQ(p.confidence, Confidence::high);
}

TEST(PriceAlone, AnEstimateWhereNothingIsReplayed) {
  const Priced p = alone(claim(RuleId::S01, without({"0"}), 2 * kMs, 3 * kMs), no_replays(), basis());
  expect_range(p.saving, 2 * kMs, 3 * kMs);
  EXPECT_EQ(p.confidence, Confidence::medium);
  EXPECT_EQ(p.reasons, std::vector<std::string>{"the saving is a share of the time, as the recording cannot "
                                                "be replayed: 7.00 % off even without changes"});
}

TEST(PriceAlone, AnEstimateIsNoMoreThanWhatItIsAPartOf) {
  Claim c = claim(RuleId::S01, {}, 2 * kMs, 25 * kMs);
  c.removed = without({"0", "2"});  // the host lane stays: 10 ms
  expect_range(alone(c, replays(), basis()).saving, 2 * kMs, 10 * kMs);
}

TEST(PriceAlone, NothingSavesComputeUnlessItShortensKernels) {
  Claim c = claim(RuleId::K01, {}, 45 * kMs, 48 * kMs);
  expect_range(alone(c, replays(), basis()).saving, 40 * kMs, 40 * kMs);
  c.shortens_kernels = true;
  expect_range(alone(c, replays(), basis()).saving, 45 * kMs, 48 * kMs);
}

// 20 ms are claimed, 10 are saved: the finding names what limits then.
TEST(PriceAlone, SaysWhatLimitsBehindIt) {
  const Priced p = alone(claim(RuleId::C02, without({"0", "2"}), 0, 20 * kMs), replays(), basis());
  expect_range(p.saving, 10 * kMs, 10 * kMs);
  EXPECT_EQ(p.aside, "Then the host does");
  EXPECT_EQ(p.reasons, std::vector<std::string>{"it removes 20.0 ms of device work, but then the host does"});
}

TEST(PriceAlone, ARangeIsWiderAsStepsVary) {
  Basis noisy = basis();
  noisy.uncertainty = 100'000;
  const Priced p = alone(claim(RuleId::S01, without({"0"})), replays(), noisy);
  EXPECT_EQ(p.margin, 100'000);
  expect_range(p.saving, 10 * kMs - 100'000, 10 * kMs + 100'000);
}

TEST(PriceAlone, RecordingIsLeftOutOfLateTime) {
  Basis slowed = basis();
  slowed.pace = 0.9;
  slowed.recording = 2 * kMs;
  Claim c = claim(RuleId::H01, {}, 4 * kMs, 8 * kMs);
  c.leftover = 10 * kMs;
  const Priced p = alone(c, no_replays(), slowed);
  expect_range(p.saving, 3'200'000, 6'400'000);  // 8 of 10 ms are left
  EXPECT_EQ(p.reasons, std::vector<std::string>{
                           "2.00 ms of the 10.0 ms per step are the cost of recording and are excluded"});
}

// Another claim ends 5 of 20 ms of late time: three quarters are left.
TEST(PriceAlone, OthersClaimLateTimeFirst) {
  Claim late = claim(RuleId::H01, {}, 4 * kMs, 16 * kMs), loop = claim(RuleId::H05, {}, kMs, 5 * kMs);
  late.leftover = 20 * kMs;
  std::vector<Candidate> left = price_alone({late, loop}, basis(), no_replays(), 1);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].priced.claim.id, RuleId::H01);
  EXPECT_EQ(left[0].priced.others, 5 * kMs);
  expect_range(left[0].priced.saving, 3 * kMs, 12 * kMs);
  expect_range(left[0].priced.unshared, 4 * kMs, 16 * kMs);
  // A tenth of the step is worth a claim; less is dropped.
  loop.saving_high = 16 * kMs;
  left = price_alone({late, loop}, basis(), no_replays(), 1);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].priced.claim.id, RuleId::H05);
}

// The device hides the host by 10 ms: the host is next, and saves after the device.
TEST(PriceAfter, WhatIsHiddenComesNext) {
  const std::vector<Ranked> findings =
      priced({claim(RuleId::I01, without({"1"})), claim(RuleId::S01, without({"0", "2"}))});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].claim.id, RuleId::S01);
  EXPECT_EQ(when_of(findings[0]), report::When::now);
  expect_range(findings[0].after, 10 * kMs, 10 * kMs);
  EXPECT_EQ(when_of(findings[1]), report::When::next);
  EXPECT_EQ(findings[1].reasons, std::vector<std::string>{"it limits only once the findings above are done"});
  expect_range(findings[1].saving, 0, 0);
  expect_range(findings[1].after, 10 * kMs, 10 * kMs);
}

// Either of two changes makes the host the limit: the second adds nothing.
TEST(PriceAfter, WhatAddsNothingIsCovered) {
  const Prices prices =
      price({claim(RuleId::S02, without({"2"})), claim(RuleId::S01, without({"0"}))}, basis(), replays(), 1);
  ASSERT_EQ(prices.findings.size(), 2u);
  EXPECT_EQ(prices.findings[0].claim.id, RuleId::S01);
  EXPECT_EQ(when_of(prices.findings[1]), report::When::covered);
  expect_range(prices.findings[1].saving, 10 * kMs, 10 * kMs);
  expect_range(prices.findings[1].after, 0, 0);
  EXPECT_FALSE(prices.together.known());
}

TEST(PriceAfter, FactsAndSmallSavings) {
  const std::vector<Ranked> findings =
      priced({claim(RuleId::A02, {}, report::kNoInt, report::kNoInt), claim(RuleId::C01, {}, 0, 10'000)});
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(when_of(findings[0]), report::When::small);
  EXPECT_EQ(when_of(findings[1]), report::When::fact);
  EXPECT_TRUE(ranks_before(findings[1], findings[0]));
}

// Of a step of 50 ms: where 30 ms of work are has a larger expected saving than 2 to 3 ms at medium
// confidence, whose middle is 5 % of the step; that of 1 to 2 ms is less. A limit of 9 ms stays before both.
TEST(PriceAfter, WhereTheWorkIsComesBehindEstimates) {
  const auto ordered = [](std::int64_t low, std::int64_t high) {
    Claim work = claim(RuleId::H10, {}, 0, 30 * kMs), limit = claim(RuleId::G04, {}, 0, 15 * kMs);
    Claim estimate = claim(RuleId::H02, {}, low * kMs, high * kMs);
    work.confidence = limit.confidence = Confidence::low;
    estimate.confidence = Confidence::medium;
    work.general = true;
    std::vector<Ranked> findings = priced({work, limit, estimate});
    put_in_order(findings);
    std::vector<RuleId> order;
    for (const Ranked& f : findings) order.push_back(f.claim.id);
    return order;
  };
  EXPECT_EQ(ordered(2, 3), (std::vector{RuleId::G04, RuleId::H02, RuleId::H10}));
  EXPECT_EQ(ordered(1, 2), (std::vector{RuleId::H10, RuleId::G04, RuleId::H02}));
}

Ranked limiting(std::int64_t low, std::int64_t high, bool by_replay) {
  Ranked f;
  f.saving = {low, high};
  f.by_replay = by_replay;
  return f;
}

TEST(PriceTogether, NeverMoreThanTheSumOrTheStep) {
  Ranking ranking{{limiting(2 * kMs, 4 * kMs, true), limiting(3 * kMs, 6 * kMs, true)}, {8 * kMs, 8 * kMs}};
  expect_range(price_together(ranking, basis()), 4 * kMs, 8 * kMs);
  ranking.limiting = {20 * kMs, 20 * kMs};
  expect_range(price_together(ranking, basis()), 5 * kMs, 10 * kMs);
  Basis tight = basis();
  tight.most = 6 * kMs;
  expect_range(price_together(ranking, tight), 3 * kMs, 6 * kMs);
  ranking.findings[1].next = true;
  EXPECT_FALSE(price_together(ranking, basis()).known());
}

// The replayed change takes 4 of 10 ms of late time: three fifths of the estimate of 5 ms are left.
TEST(PriceTogether, EstimatesGetWhatReplayLeaves) {
  Basis late = basis();
  late.late = 10 * kMs;
  const Ranking ranking{{limiting(4 * kMs, 4 * kMs, true), limiting(5 * kMs, 5 * kMs, false)},
                        {4 * kMs, 4 * kMs}};
  expect_range(price_together(ranking, late), 7 * kMs, 7 * kMs);
}

}  // namespace
}  // namespace stepscope::advise
