#include "report/judgement.h"

#include <gtest/gtest.h>

#include "made_reports.h"

namespace stepscope::report {
namespace {

Table findings(Texts ranks, Texts ids, Texts titles, Ints low, Ints high) {
  Table table{"Findings", Shape::table, {}};
  table.texts("of_rank", Role::detail) = std::move(ranks);
  table.texts("id") = std::move(ids);
  table.texts("title", Role::value) = std::move(titles);
  table.ints("saving_low", Unit::ns) = std::move(low);
  table.ints("saving_high", Unit::ns) = std::move(high);
  return table;
}

Table verdict(Texts bounds, Ints steps) {
  Table table{"Verdict", Shape::table, {}};
  auto& rank = table.ints("rank", Unit::none, Role::key);
  for (std::size_t i = 0; i < bounds.size(); ++i) rank.push_back(static_cast<std::int64_t>(i));
  table.texts("bound", Role::value) = std::move(bounds);
  table.ints("steps", Unit::count) = std::move(steps);
  return table;
}

Table health(Texts grades, Texts remedies) {
  Table table{"Health", Shape::table, {}};
  table.texts("id") = {"Q06", "Q04"};
  table.texts("class", Role::value) = std::move(grades);
  table.texts("what", Role::value) = {"No steps.", "Records are missing."};
  table.texts("remedy", Role::value) = std::move(remedies);
  return table;
}

std::vector<std::string> said(const Judgement& judgement) {
  std::vector<std::string> lines;
  for (const Warning& warning : warnings_of(judgement)) lines.push_back(text_of(warning));
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
  const Table table = findings({"", "", "", "", "", ""}, {"a", "b", "c", "d", "e", "f"}, Texts(6, "t"),
                               {35400000, 0, 900000, 5000000, 0, kNoInt},
                               {59300000, 8700000, 1200000, 5010000, kNoInt, 8000});
  const std::vector<Card> cards = cards_of({nullptr, &table, nullptr});
  ASSERT_EQ(cards.size(), 6u);
  EXPECT_EQ(saving_of(cards[0]), "saves 35–59 ms per step");
  EXPECT_EQ(saving_of(cards[1]), "saves up to 8.7 ms per step");
  EXPECT_EQ(saving_of(cards[2]), "saves 900 µs – 1.2 ms per step");
  EXPECT_EQ(saving_of(cards[3]), "saves 5 ms per step");
  EXPECT_EQ(saving_of(cards[4]), "");
  EXPECT_EQ(saving_of(cards[5]), "saves up to 8 µs per step");
}

TEST(Judgement, WhatDoesNotLimitNowAndWhatAllGiveTogether) {
  Table table =
      findings({"", ""}, {"I01", "P01"}, {"loader", "precision"}, {35000000, 0}, {59000000, 2700000});
  table.ints("after_low", Unit::ns, Role::detail) = {35000000, 12400000};
  table.ints("after_high", Unit::ns, Role::detail) = {59000000, 13000000};
  table.texts("when", Role::detail) = {"now", "next"};
  Table ranks = verdict({"host-bound"}, {6});
  ranks.ints("saved_from", Unit::ns) = {178000000};
  ranks.ints("together_low", Unit::ns, Role::detail) = {45000000};
  ranks.ints("together_high", Unit::ns, Role::detail) = {65000000};
  const std::vector<Card> cards = cards_of({&ranks, &table, nullptr});
  EXPECT_EQ(saving_of(cards[0]), "saves 35–59 ms per step");
  EXPECT_EQ(cards[0].when, When::now);
  EXPECT_EQ(saving_of(cards[1]), "saves up to 2.7 ms now, 12–13 ms per step once 1 is done");
  EXPECT_EQ(cards[1].when, When::next);
  EXPECT_EQ(together({&ranks, &table, nullptr}).range, "45–65 ms");
  EXPECT_EQ(together({&ranks, &table, nullptr}).steps, "178 ms → 110–130 ms per step; then 2 adds 12–13 ms");
  std::get<Ints>(ranks.columns.back().values) = {kNoInt};
  EXPECT_EQ(together({&ranks, &table, nullptr}).range, "");
}

TEST(Judgement, ASavingThatIsLeftOfNothing) {
  Table table = findings({"", "", "", ""}, {"a", "b", "c", "d"}, Texts(4, "t"), {7700000, 7700000, 0, 0},
                         {14000000, 14000000, 0, 0});
  table.ints("after_low", Unit::ns, Role::detail) = {7700000, 0, 11000000, 0};
  table.ints("after_high", Unit::ns, Role::detail) = {14000000, 0, 15000000, 0};
  table.texts("when", Role::detail) = {"now", "now", "next", "small"};
  const std::vector<Card> cards = cards_of({nullptr, &table, nullptr});
  EXPECT_EQ(saving_of(cards[0]), "saves 7.7–14 ms per step");
  EXPECT_EQ(saving_of(cards[1]), "saves 7.7–14 ms per step alone; nothing once 1 is done");
  EXPECT_EQ(caveat_of(cards[1]), "alone; nothing once 1 is done");
  EXPECT_EQ(saving_of(cards[2]), "saves nothing now, 11–15 ms per step once 1 and 2 are done");
  EXPECT_EQ(saving_of(cards[3]), "saves nothing");
  EXPECT_EQ(caveat_of(cards[3]), "");
}

// Only what limits now is made together; what adds nothing beside it, facts and what is hidden are not.
TEST(Judgement, WhoIsMadeTogether) {
  Table table =
      findings(Texts(6, ""), {"a", "b", "c", "d", "e", "f"}, Texts(6, "t"),
               {7700000, 7700000, 7700000, 0, kNoInt, 0}, {14000000, 14000000, 14000000, 0, kNoInt, 0});
  table.ints("after_high", Unit::ns, Role::detail) = {14000000, 14000000, 20000, 0, kNoInt, 0};
  table.ints("after_low", Unit::ns, Role::detail) = {7700000, 7700000, 0, 0, kNoInt, 0};
  table.texts("when", Role::detail) = {"now", "now", "covered", "hidden", "fact", "small"};
  Table ranks = verdict({"host-bound"}, {6});
  ranks.ints("together_low", Unit::ns, Role::detail) = {45000000};
  ranks.ints("together_high", Unit::ns, Role::detail) = {65000000};
  EXPECT_EQ(together({&ranks, &table, nullptr}).whose, "1 and 2 together");
  const std::vector<Card> cards = cards_of({&ranks, &table, nullptr});
  EXPECT_EQ(saving_of(cards[2]), "saves 7.7–14 ms per step alone; nothing once 1 and 2 are done");
  EXPECT_EQ(heading_of(cards[2].when), "Nothing more once that is done");
  EXPECT_EQ(heading_of(cards[3].when), "Nothing while something else limits");
  EXPECT_EQ(heading_of(cards[4].when), "Also seen; no saving is known");
  EXPECT_EQ(heading_of(cards[5].when), "Too small to matter");
}

// Ranks wait for each other: what one of them gains the job gains.
TEST(Judgement, WhatAllGiveIsTheJobs) {
  Table ranks = verdict({"host-bound", "device-bound", "host-bound"}, {4, 4, 4});
  ranks.ints("saved_from", Unit::ns) = {14700000, 14700000, 14700000};
  ranks.ints("together_low", Unit::ns, Role::detail) = {2900000, kNoInt, 2700000};
  ranks.ints("together_high", Unit::ns, Role::detail) = {4500000, kNoInt, 4400000};
  const Sum sum = together({&ranks, nullptr, nullptr});
  EXPECT_EQ(sum.whose, "job, all together");
  EXPECT_EQ(sum.range, "2.7–4.5 ms");
  EXPECT_EQ(sum.steps, "14.7 ms → 10–12 ms per step");
}

TEST(Judgement, OneCardForTheSameFindingOfSeveralRanks) {
  const Table table =
      findings({"1", "0", "2", "0"}, {"N01", "N01", "N01", "H01"}, {"858 µs", "854 µs", "700 µs", "slow"},
               {170000, 160000, 140000, kNoInt}, {690000, 680000, 560000, kNoInt});
  const std::vector<Card> cards = cards_of({nullptr, &table, nullptr});
  ASSERT_EQ(cards.size(), 2u);
  EXPECT_EQ(cards[0].title, "Ranks 0–2 (rank 1 shown): 858 µs");
  EXPECT_EQ(saving_of(cards[0]), "saves 140–690 µs per step");
  EXPECT_EQ(cards[1].title, "Rank 0: slow");
}

TEST(Judgement, NoStepsNoSavingPerStep) {
  Table table = findings({"0", "1"}, {"a", "b"}, {"t", "t"}, {0, 0}, {1000000, 2000000});
  table.texts("per", Role::detail) = {"recording", "step"};
  const std::vector<Card> cards = cards_of({nullptr, &table, nullptr});
  EXPECT_EQ(saving_of(cards[0]), "saves up to 1 ms");
  EXPECT_EQ(saving_of(cards[1]), "saves up to 2 ms per step");
}

TEST(Judgement, RanksJudgedAlikeShareASentence) {
  Table ranks = verdict({"host-bound", "host-bound", "device-bound"}, {4, 4, 4});
  ranks.texts("headline", Role::value) = {"Host-bound: idle 20.1 % of each 4.24 ms step.",
                                          "Host-bound: idle 3 % of each 900 µs step.", "Device-bound: busy."};
  const std::vector<Sentence> sentences = sentences_of(ranks);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].headline,
            "Ranks 0 and 1 (rank 0 shown): Host-bound: idle 20.1 % of each 4.24 ms step.");
  EXPECT_EQ(sentences[1].headline, "Rank 2: Device-bound: busy.");
  EXPECT_EQ(sentences_of(test::made_verdict().tables[0])[0].headline.substr(0, 10), "Host-bound");
}

TEST(Judgement, SaysWhatToRecordWhenNothingCanBeConcluded) {
  const Table none = findings({}, {}, {}, {}, {});
  const Table sick = health({"B", "A"}, {"prof.step()", "warmup=2"}), well = health({"C", "C"}, {"a", "b"});
  const Table unknown = verdict({"unknown"}, {0}), device = verdict({"device-bound"}, {5});
  EXPECT_EQ(nothing_to_change({&unknown, &none, &sick}), "First record again: warmup=2");
  EXPECT_EQ(nothing_to_change({&device, &none, &well}),
            "Nothing that this recording can prove worth changing.");
  // What was said there is not said again.
  EXPECT_EQ(said({&unknown, &none, &sick}),
            (std::vector<std::string>{"No steps. prof.step()", "Records are missing."}));
}

TEST(Judgement, HealthNamesRanksTogether) {
  const Report report = test::made_verdict();
  EXPECT_EQ(said(judgement_of({&report, 1})),
            (std::vector<std::string>{
                "Ranks 0 and 1: The file ends early. Affects every total. Let the job finish.",
                "Rank 0: No Python stacks. Affects source lines. with_stack=True"}));
  // Where the sentence was said behind its ranks, the rest is left.
  const std::vector<Warning> warnings = warnings_of(judgement_of({&report, 1}));
  EXPECT_EQ(warnings[0].said, "The file ends early.");
  EXPECT_EQ(warnings[0].whose, "Ranks 0 and 1");
  EXPECT_EQ(rest_of(warnings[0]), "Affects every total. Let the job finish.");
}

TEST(Judgement, WithoutStepsTheWholeIsTheRecording) {
  const Table marked = verdict({"device-bound", "unknown"}, {5, 0}), unmarked = verdict({"unknown"}, {0});
  const Table whole{"Average step", Shape::bars, {}};
  EXPECT_EQ(title_of_whole({&marked, nullptr, nullptr}, whole), "Average step, mean of 2 ranks");
  EXPECT_EQ(title_of_whole({&unmarked, nullptr, nullptr}, whole), "The whole recording");
  EXPECT_EQ(title_of_whole({}, whole), "Average step");
}

TEST(Judgement, EvidenceNamesAnalyses) {
  const std::string evidence = "idle: cause input, 3 ms; input_wait: per step; train.py:36 is slow";
  const std::vector<Proof> proofs = proofs_of(evidence);
  ASSERT_EQ(proofs.size(), 3u);
  EXPECT_EQ(proofs[0].analysis, "idle");
  EXPECT_EQ(proofs[0].text, "idle: cause input, 3 ms");
  EXPECT_EQ(proofs[1].analysis, "input_wait");
  EXPECT_EQ(proofs[2].analysis, "");
  Table table = findings({"", ""}, {"a", "b"}, {"t", "t"}, {0, 0}, {1, 1});
  table.texts("evidence", Role::detail) = {evidence, "kernels: x; idle: y"};
  Table ranks = verdict({"host-bound"}, {4});
  ranks.texts("evidence", Role::detail) = {"overview: z"};
  EXPECT_EQ(proving_analyses({&ranks, &table, nullptr}),
            (std::vector<std::string>{"idle", "input_wait", "kernels", "overview"}));
}

}  // namespace
}  // namespace stepscope::report
