// "Verdict", "Findings" and "Health" as people read them: what several ranks share is said once, and a
// finding knows which analyses prove it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/page.h"

namespace stepscope::report {

/// "3", "0 and 1", "0, 2 and 5", "0–3 and 7".
std::string listed_ranks(std::vector<std::int64_t> ranks);

/// A piece of a finding's evidence, "idle: cause input, 62 ms": the analysis that shows it, and the words.
struct Proof {
  std::string_view analysis;  ///< "" when none is named
  std::string_view text;      ///< the whole piece
};
/// The pieces of `evidence`, which stand between semicolons.
std::vector<Proof> proofs_of(std::string_view evidence);

/// A finding; the same one of several ranks is one card, with the numbers of the rank that gains most.
struct Card {
  std::string title;   ///< with its ranks when there are several
  std::string saving;  ///< "saves 58–70 ms per step", "saves up to 70 ms" without step marks, or ""
  std::string remedy, confidence, because, evidence, verify;
  bool next = false;  ///< does not limit now: once those above are done
};

/// What the tables of one page or report say together. Absent tables are nullptr.
struct Judgement {
  const Table* verdict = nullptr;
  const Table* findings = nullptr;
  const Table* health = nullptr;
};
Judgement judgement_of(std::span<const Report> reports);

/// The verdict of ranks that are judged alike.
struct Sentence {
  std::string headline;            ///< with its ranks when there are several
  std::vector<std::string> facts;  ///< "6 steps of 178 ms"
};
std::vector<Sentence> sentences_of(const Table& verdict);

std::vector<Card> cards_of(const Judgement& judgement);

/// "All of these together: saves 45–65 ms per step (178 ms → 113–133 ms)" per rank that has several, "" if
/// none.
std::string together(const Judgement& judgement);
/// The heading of findings that do not limit now.
inline constexpr std::string_view kNextHeading = "Next, once that is done";

/// The sentence in place of findings: that there is nothing to change, or what to record first.
std::string nothing_to_change(const Judgement& judgement);

/// "Health" as sentences, one per id: what, what it affects, what to do unless that was said already.
std::vector<std::string> health_lines(const Judgement& judgement);

/// The heading of the picture of a whole: of what is no step when none is marked, the table's own otherwise.
std::string title_of_whole(const Judgement& judgement, const Table& whole);

/// The analyses that prove the findings, then those behind the verdict; each once.
std::vector<std::string> proving_analyses(const Judgement& judgement);

}  // namespace stepscope::report
