// A verdict as people read it: a statement about several ranks appears once. Results refer to the verdict,
// which must outlive them.
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

/// A finding. The same finding on several ranks is one card: the texts of the rank that gains most, and a
/// range over all of them.
struct Card {
  std::size_t place = 1;  ///< among all cards
  const Finding* finding = nullptr;
  std::string title;  ///< the finding's title, after its ranks if there are several
  std::string range;  ///< of the saving: "58–70 ms", "up to 70 ms", kNothing, or ""
  std::string after;  ///< saving after those above: kNothing; "12–13 ms" for a `next` one; else ""

  When when() const { return finding->when; }
};
std::vector<Card> cards_of(const Verdict& verdict);
/// "saves 58–70 ms per step", "saves up to 2.7 ms now, 12–13 ms per step once 1 and 2 are done", "saves up to
/// 70 ms", or "".
std::string saving_of(const Card& card);
/// "alone; nothing once 1 is done" if those above leave nothing of the saving, else "".
std::string caveat_of(const Card& card);
/// The range for a summary: for a `next` finding, its saving after those above.
const std::string& range_of(const Card& card);

/// The words of a sentence, without its numbers and their units.
std::string words_of(std::string_view sentence);

/// One sentence for all ranks whose headlines have the same words.
struct Sentence {
  std::string headline;            ///< with its ranks when there are several
  std::vector<std::string> facts;  ///< "6 steps of 178 ms"
};
std::vector<Sentence> sentences_of(const Verdict& verdict);
/// Facts about a rank beside its sentence: "6 steps of 178 ms".
std::vector<std::string> facts_of(const RankVerdict& rank);

/// The saving of all findings that limit now, made together.
struct Sum {
  std::string whose;  ///< "1–3 together", "job, 1 and 2 together"
  std::string range;  ///< "45–65 ms", "" when there is nothing to add up
  std::string steps;  ///< "178 ms → 110–130 ms per step; then 4 adds 14–24 ms", "" without step marks
};
/// For several ranks, whose steps end together: from the smallest low end to the largest high end of any
/// rank.
Sum together(const Verdict& verdict);

/// The sentence in place of findings: that there is nothing to change, or what to record first.
std::string nothing_to_change(const Verdict& verdict);

/// Something that the recordings of one or more ranks lack.
struct Warning {
  std::string_view id;
  std::string said;   ///< a sentence
  std::string whose;  ///< "Ranks 0 and 1 (rank 0 shown)" when there are several
  std::string rest;   ///< what it affects, and what to do unless that is shown already
};
std::vector<Warning> warnings_of(const Verdict& verdict);
/// text_of: the whole warning. said_of: only its ranks and its sentence.
std::string text_of(const Warning& warning);
std::string said_of(const Warning& warning);

/// The heading for the picture of a whole: the table's title, for a mean step with the number of ranks if
/// there are several; "The whole recording" without step marks. `verdict`: nullptr if nothing is judged.
std::string title_of_whole(const Verdict* verdict, const Table& whole);

/// Analyses named as evidence: those of the findings, then those of the ranks' verdicts; each once.
std::vector<std::string_view> proving_analyses(const Verdict& verdict);

}  // namespace stepscope::report
