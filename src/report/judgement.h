// A verdict as people read it: what several ranks share is said once. What these return refers to the
// verdict, which outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/verdict.h"

namespace stepscope::report {

/// "3", "0 and 1", "0, 2 and 5", "0–3 and 7".
std::string listed_ranks(std::vector<std::int64_t> ranks);

std::string_view heading_of(When when);

inline constexpr std::string_view kNothing = "nothing";

/// A finding; the same one of several ranks is one card, with the numbers of the rank that gains most.
struct Card {
  std::size_t place = 1;  ///< among all cards
  const Finding* finding = nullptr;
  std::string title;  ///< what the finding says, behind its ranks when there are several
  std::string range;  ///< of the saving: "58–70 ms", "up to 70 ms", kNothing, or ""
  std::string after;  ///< once those above are done: kNothing; of what is next: "12–13 ms"; else ""

  When when() const { return finding->when; }
};
std::vector<Card> cards_of(const Verdict& verdict);
/// "saves 58–70 ms per step", "saves up to 2.7 ms now, 12–13 ms per step once 1 and 2 are done", "saves up to
/// 70 ms", or "".
std::string saving_of(const Card& card);
/// "alone; nothing once 1 is done" of a saving that those above leave none of; else "".
std::string caveat_of(const Card& card);
/// The number of a summary: what is next saves once those above are done.
const std::string& range_of(const Card& card);

/// The words of a sentence, without its numbers and their units.
std::string words_of(std::string_view sentence);

/// The verdict of ranks that are judged alike.
struct Sentence {
  std::string headline;            ///< with its ranks when there are several
  std::vector<std::string> facts;  ///< "6 steps of 178 ms"
};
std::vector<Sentence> sentences_of(const Verdict& verdict);
/// What is known of a rank beside its sentence: "6 steps of 178 ms".
std::vector<std::string> facts_of(const RankVerdict& rank);

/// What all findings that limit now save, made together.
struct Sum {
  std::string whose;  ///< "1–3 together", "job, 1 and 2 together"
  std::string range;  ///< "45–65 ms", "" when there is nothing to add up
  std::string steps;  ///< "178 ms → 110–130 ms per step; then 4 adds 14–24 ms", "" without step marks
};
/// Of several ranks, whose steps end together, from the least to the most of any.
Sum together(const Verdict& verdict);

/// The sentence in place of findings: that there is nothing to change, or what to record first.
std::string nothing_to_change(const Verdict& verdict);

/// A thing the recording lacks, of one rank or of several.
struct Warning {
  std::string_view id;
  std::string said;   ///< a sentence
  std::string whose;  ///< "Ranks 0 and 1 (rank 0 shown)" when there are several
  std::string rest;   ///< what it affects, what to do unless that was said already
};
std::vector<Warning> warnings_of(const Verdict& verdict);
/// All of it; and the sentence behind its ranks.
std::string text_of(const Warning& warning);
std::string said_of(const Warning& warning);

/// The heading of the picture of a whole: the table's own; of a step with the ranks it is a mean of when
/// there are several, but no step when none is marked. `verdict`: nullptr where nothing is judged.
std::string title_of_whole(const Verdict* verdict, const Table& whole);

/// The analyses that prove the findings, then those behind the verdict; each once.
std::vector<std::string_view> proving_analyses(const Verdict& verdict);

}  // namespace stepscope::report
