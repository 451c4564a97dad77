#include "report/judgement.h"

#include <gtest/gtest.h>

#include "made_reports.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

/// A finding of rank 0 with a saving from `low` to `high`.
Finding finding(RuleId id, std::string title, std::int64_t low, std::int64_t high) {
  Finding f;
  f.id = id;
  f.title = std::move(title);
  f.rank = 0;
  f.saving = {low, high};
  return f;
}

Finding finding(RuleId id, Range saving, Range after, When when) {
  Finding f = finding(id, "t", saving.low, saving.high);
  f.after = after;
  f.when = when;
  return f;
}

/// Ranks 0, 1, … with these bounds and numbers of steps.
std::vector<RankVerdict> ranks(const std::vector<Bound>& bounds, const std::vector<std::int64_t>& steps) {
  std::vector<RankVerdict> out(bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    out[i].rank = static_cast<std::int64_t>(i);
    out[i].bound = bounds[i];
    out[i].steps = steps[i];
  }
  return out;
}

std::vector<Health> health(HealthClass first, const char* remedy, HealthClass second, const char* other) {
  return {{HealthId::Q06, first, 0, "No steps.", "", remedy},
          {HealthId::Q04, second, 0, "Records are missing.", "", other}};
}

std::vector<std::string> said(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const Warning& warning : warnings_of(verdict)) lines.push_back(text_of(warning));
  return lines;
}

TEST(Judgement, ListsRanks) {
  EXPECT_EQ(listed_ranks({3}), "3");
  EXPECT_EQ(listed_ranks({1, 0}), "0 and 1");
  EXPECT_EQ(listed_ranks({5, 0, 2}), "0, 2 and 5");
  EXPECT_EQ(listed_ranks({0, 1, 2, 3, 7}), "0–3 and 7");
  EXPECT_EQ(listed_ranks({7, 7}), "7");
}

TEST(Judgement, SavingsAreRangesOfTwoDigits) {
  Verdict verdict;
  verdict.findings = {
      finding(RuleId::A01, "t", 35400000, 59300000), finding(RuleId::A02, "t", 0, 8700000),
      finding(RuleId::A04, "t", 900000, 1200000),    finding(RuleId::A05, "t", 5000000, 5010000),
      finding(RuleId::C01, "t", 0, kNoInt),          finding(RuleId::C02, "t", kNoInt, 8000)};
  const std::vector<Card> cards = cards_of(verdict);
  ASSERT_EQ(cards.size(), 6u);
  EXPECT_EQ(saving_of(cards[0]), "saves 35–59 ms per step");
  EXPECT_EQ(saving_of(cards[1]), "saves up to 8.7 ms per step");
  EXPECT_EQ(saving_of(cards[2]), "saves 900 µs – 1.2 ms per step");
  EXPECT_EQ(saving_of(cards[3]), "saves 5 ms per step");
  EXPECT_EQ(saving_of(cards[4]), "");
  EXPECT_EQ(saving_of(cards[5]), "saves up to 8 µs per step");
}

TEST(Judgement, WhatDoesNotLimitNowAndWhatAllGiveTogether) {
  Verdict verdict;
  verdict.findings = {finding(RuleId::I01, {35000000, 59000000}, {35000000, 59000000}, When::now),
                      finding(RuleId::P01, {0, 2700000}, {12400000, 13000000}, When::next)};
  verdict.ranks = ranks({Bound::host}, {6});
  verdict.ranks[0].saved_from = 178000000;
  verdict.ranks[0].together = {45000000, 65000000};
  const std::vector<Card> cards = cards_of(verdict);
  EXPECT_EQ(saving_of(cards[0]), "saves 35–59 ms per step");
  EXPECT_EQ(cards[0].when(), When::now);
  EXPECT_EQ(saving_of(cards[1]), "saves up to 2.7 ms now, 12–13 ms per step once 1 is done");
  EXPECT_EQ(cards[1].when(), When::next);
  EXPECT_EQ(together(verdict).range, "45–65 ms");
  EXPECT_EQ(together(verdict).steps, "178 ms → 110–130 ms per step; then 2 adds 12–13 ms");
  verdict.ranks[0].together.high = kNoInt;
  EXPECT_EQ(together(verdict).range, "");
}

TEST(Judgement, ASavingThatIsLeftOfNothing) {
  Verdict verdict;
  verdict.findings = {finding(RuleId::A01, {7700000, 14000000}, {7700000, 14000000}, When::now),
                      finding(RuleId::A02, {7700000, 14000000}, {0, 0}, When::now),
                      finding(RuleId::A04, {0, 0}, {11000000, 15000000}, When::next),
                      finding(RuleId::A05, {0, 0}, {0, 0}, When::small)};
  const std::vector<Card> cards = cards_of(verdict);
  EXPECT_EQ(saving_of(cards[0]), "saves 7.7–14 ms per step");
  EXPECT_EQ(saving_of(cards[1]), "saves 7.7–14 ms per step alone; nothing once 1 is done");
  EXPECT_EQ(caveat_of(cards[1]), "alone; nothing once 1 is done");
  EXPECT_EQ(saving_of(cards[2]), "saves nothing now, 11–15 ms per step once 1 and 2 are done");
  EXPECT_EQ(saving_of(cards[3]), "saves nothing");
  EXPECT_EQ(caveat_of(cards[3]), "");
}

// Only findings that limit now are made together, without covered ones, facts and hidden ones.
TEST(Judgement, WhoIsMadeTogether) {
  const Range some{7700000, 14000000};
  Verdict verdict;
  verdict.findings = {finding(RuleId::A01, some, some, When::now),
                      finding(RuleId::A02, some, some, When::now),
                      finding(RuleId::A04, some, {0, 20000}, When::covered),
                      finding(RuleId::A05, {0, 0}, {0, 0}, When::hidden),
                      finding(RuleId::C01, {}, {}, When::fact),
                      finding(RuleId::C02, {0, 0}, {0, 0}, When::small)};
  verdict.ranks = ranks({Bound::host}, {6});
  verdict.ranks[0].together = {45000000, 65000000};
  EXPECT_EQ(together(verdict).whose, "1 and 2 together");
  const std::vector<Card> cards = cards_of(verdict);
  EXPECT_EQ(saving_of(cards[2]), "saves 7.7–14 ms per step alone; nothing once 1 and 2 are done");
  EXPECT_EQ(heading_of(cards[2].when()), "Saves nothing more once that is done");
  EXPECT_EQ(heading_of(cards[3].when()), "Next, but too small to matter");
  EXPECT_EQ(heading_of(cards[4].when()), "Also seen; no saving is known");
  EXPECT_EQ(heading_of(cards[5].when()), "Too small to matter");
}

// Ranks wait for each other: the job gains what one of them gains.
TEST(Judgement, WhatAllGiveIsTheJobs) {
  Verdict verdict;
  verdict.ranks = ranks({Bound::host, Bound::device, Bound::host}, {4, 4, 4});
  for (RankVerdict& rank : verdict.ranks) rank.saved_from = 14700000;
  verdict.ranks[0].together = {2900000, 4500000};
  verdict.ranks[2].together = {2700000, 4400000};
  const Sum sum = together(verdict);
  EXPECT_EQ(sum.whose, "job, all together");
  EXPECT_EQ(sum.range, "2.7–4.5 ms");
  EXPECT_EQ(sum.steps, "14.7 ms → 10–12 ms per step");
}

TEST(Judgement, OneCardForTheSameFindingOfSeveralRanks) {
  Verdict verdict;
  verdict.several = true;
  verdict.findings = {
      finding(RuleId::N01, "858 µs", 170000, 690000), finding(RuleId::N01, "854 µs", 160000, 680000),
      finding(RuleId::N01, "700 µs", 140000, 560000), finding(RuleId::H01, "slow", kNoInt, kNoInt)};
  verdict.findings[0].rank = 1;
  verdict.findings[2].rank = 2;
  const std::vector<Card> cards = cards_of(verdict);
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].title, "Ranks 0–2 (rank 1 shown): 858 µs");
  EXPECT_EQ(saving_of(cards[0]), "saves 140–690 µs per step");
  EXPECT_EQ(cards[1].title, "Rank 0: slow");
}

TEST(Judgement, NoStepsNoSavingPerStep) {
  Verdict verdict;
  verdict.findings = {finding(RuleId::A01, "t", 0, 1000000), finding(RuleId::A02, "t", 0, 2000000)};
  verdict.findings[0].per_step = false;
  const std::vector<Card> cards = cards_of(verdict);
  EXPECT_EQ(saving_of(cards[0]), "saves up to 1 ms");
  EXPECT_EQ(saving_of(cards[1]), "saves up to 2 ms per step");
}

TEST(Judgement, RanksJudgedAlikeShareASentence) {
  Verdict verdict;
  verdict.ranks = ranks({Bound::host, Bound::host, Bound::device}, {4, 4, 4});
  verdict.ranks[0].headline = "Host-bound: idle 20.1 % of each 4.24 ms step.";
  verdict.ranks[1].headline = "Host-bound: idle 3 % of each 900 µs step.";
  verdict.ranks[2].headline = "Device-bound: busy.";
  const std::vector<Sentence> sentences = sentences_of(verdict);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].headline,
            "Ranks 0 and 1 (rank 0 shown): Host-bound: idle 20.1 % of each 4.24 ms step.");
  EXPECT_EQ(sentences[1].headline, "Rank 2: Device-bound: busy.");
  EXPECT_EQ(sentences_of(test::made_verdict())[0].headline.substr(0, 10), "Host-bound");
}

TEST(Judgement, SaysWhatToRecordWhenNothingCanBeConcluded) {
  Verdict unknown, device;
  unknown.ranks = ranks({Bound::unknown}, {0});
  unknown.health = health(HealthClass::B, "prof.step()", HealthClass::A, "warmup=2");
  device.ranks = ranks({Bound::device}, {5});
  device.health = health(HealthClass::C, "a", HealthClass::C, "b");
  EXPECT_EQ(nothing_to_change(unknown), "Record again first: warmup=2");
  EXPECT_EQ(nothing_to_change(device), "This recording proves no change worth making.");
  // A remedy that was shown there is not repeated.
  EXPECT_EQ(said(unknown), (std::vector<std::string>{"No steps. prof.step()", "Records are missing."}));
}

TEST(Judgement, HealthNamesRanksTogether) {
  Verdict verdict = test::made_verdict();
  verdict.several = true;
  EXPECT_EQ(said(verdict), (std::vector<std::string>{
                               "Ranks 0 and 1: The file ends early. Affects every total. Let the job finish.",
                               "Rank 0: No Python stacks. Affects source lines. with_stack=True"}));
  // A printer that has shown the sentence after its ranks still needs the rest.
  const std::vector<Warning> warnings = warnings_of(verdict);
  EXPECT_EQ(warnings[0].said, "The file ends early.");
  EXPECT_EQ(warnings[0].whose, "Ranks 0 and 1");
  EXPECT_EQ(warnings[0].rest, "Affects every total. Let the job finish.");
}

TEST(Judgement, WithoutStepsTheWholeIsTheRecording) {
  Verdict marked, unmarked;
  marked.ranks = ranks({Bound::device, Bound::unknown}, {5, 0});
  unmarked.ranks = ranks({Bound::unknown}, {0});
  const Table whole{"Average step", Shape::bars, {}, true};
  EXPECT_EQ(title_of_whole(&marked, whole), "Average step, mean of 2 ranks");
  EXPECT_EQ(title_of_whole(&unmarked, whole), "The whole recording");
  EXPECT_EQ(title_of_whole(nullptr, whole), "Average step");
}

TEST(Judgement, EvidenceNamesAnalyses) {
  const std::vector<Proof> evidence = {
      {"idle", "cause input, 3 ms"}, {"input_wait", "per step"}, {"", "train.py:36 is slow"}};
  EXPECT_EQ(text_of(evidence), "idle: cause input, 3 ms; input_wait: per step; train.py:36 is slow");
  Verdict verdict;
  verdict.findings = {finding(RuleId::A01, "t", 0, 1), finding(RuleId::A02, "t", 0, 1)};
  verdict.findings[0].evidence = evidence;
  verdict.findings[1].evidence = {{"kernels", "x"}, {"idle", "y"}};
  verdict.ranks = ranks({Bound::host}, {4});
  verdict.ranks[0].evidence = {"overview", "z"};
  EXPECT_EQ(proving_analyses(verdict),
            (std::vector<std::string_view>{"idle", "input_wait", "kernels", "overview"}));
}

// The verdict in JSON, CSV and Python.
TEST(Verdict, TablesPrintTheStructs) {
  Verdict verdict;
  verdict.several = true;
  verdict.findings = {finding(RuleId::N01, {1, 2}, {0, 1}, When::next)};
  verdict.findings[0].per_step = false;
  verdict.ranks = ranks({Bound::communication}, {4});
  verdict.ranks[0].rank = -1;
  verdict.health = health(HealthClass::B, "again", HealthClass::A, "");
  const Report report = as_report(verdict);
  const auto cell = [&](std::size_t table, const char* column) {
    return format_value(*report.tables[table].column(column), 0);
  };
  EXPECT_EQ(cell(0, "rank"), "");
  EXPECT_EQ(cell(0, "bound"), "communication-bound");
  EXPECT_EQ(cell(1, "rank"), "1");
  EXPECT_EQ(cell(1, "of_rank"), "0");
  EXPECT_EQ(cell(1, "id"), "N01");
  EXPECT_EQ(cell(1, "category"), "communication");
  EXPECT_EQ(cell(1, "per"), "recording");
  EXPECT_EQ(cell(1, "when"), "next");
  EXPECT_EQ(cell(1, "confidence"), "low");
  EXPECT_EQ(cell(2, "class"), "B");
}

}  // namespace
}  // namespace stepscope::report
