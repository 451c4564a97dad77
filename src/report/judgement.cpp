#include "report/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "report/units.h"

namespace stepscope::report {
namespace {

std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return {text, ""};
  return {text.substr(0, space), text.substr(space)};
}

std::int64_t number_of(std::string_view text) {
  std::int64_t number = kNoInt;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string range_text(double low, double high, Unit unit) {
  if (!(high > 0)) return std::string(kNothing);
  std::string most = format_rough(high, unit);
  if (!(low > 0)) return "up to " + most;
  const std::string least = format_rough(low, unit);
  if (least == most) return most;
  const auto [digits, suffix] = split_unit(least);
  return split_unit(most).second == suffix ? std::string(digits) + "–" + most : least + " – " + most;
}

using Rows = std::vector<std::size_t>;

/// The rows of a table with the same key, in the order of their first ones. Rows without one stay alone.
std::vector<Rows> rows_by(const Table& table, std::string (*key_of)(const Table&, std::size_t)) {
  std::vector<Rows> groups;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string key = key_of(table, row);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Rows& group) {
      return !key.empty() && key_of(table, group.front()) == key;
    });
    if (same == groups.end())
      groups.push_back({row});
    else
      same->push_back(row);
  }
  return groups;
}

std::string id_of(const Table& table, std::size_t row) { return field(table, "id", row); }

std::string words_of_headline(const Table& verdict, std::size_t row) {
  return words_of(field(verdict, "headline", row));
}

std::vector<std::int64_t> ranks_of(const Table& table, const Rows& rows) {
  std::vector<std::int64_t> ranks;
  const bool verdict = table.column("of_rank") == nullptr && table.rows() > 1;
  for (const std::size_t row : rows)
    if (const std::string rank = field(table, verdict ? "rank" : "of_rank", row); !rank.empty())
      ranks.push_back(number_of(rank));
  return ranks;
}

/// The ranks whose `column` says the same or, with other numbers, alike: "Ranks 0 and 1 (rank 0 shown)".
std::string named_ranks(const Table& table, const Rows& rows, std::string_view column) {
  const std::vector<std::int64_t> ranks = ranks_of(table, rows);
  if (ranks.empty()) return "";
  if (ranks.size() == 1) return fmt::format("Rank {}", ranks.front());
  const std::string said = field(table, column, rows.front());
  const bool same = std::all_of(rows.begin(), rows.end(),
                                [&](std::size_t row) { return field(table, column, row) == said; });
  const std::string whose = same ? "" : fmt::format(" (rank {} shown)", ranks.front());
  return fmt::format("Ranks {}{}", listed_ranks(ranks), whose);
}

/// What `column` says of the first row, behind its ranks.
std::string said_of_ranks(const Table& table, const Rows& rows, std::string_view column) {
  const std::string whose = named_ranks(table, rows, column);
  return (whose.empty() ? "" : whose + ": ") + field(table, column, rows.front());
}

When when_of(const Table& findings, std::size_t row) {
  const std::string when = field(findings, "when", row);
  constexpr std::pair<std::string_view, When> kNames[] = {{"next", When::next},
                                                          {"covered", When::covered},
                                                          {"fact", When::fact},
                                                          {"hidden", When::hidden},
                                                          {"small", When::small}};
  for (const auto& [name, meant] : kNames)
    if (name == when) return meant;
  return When::now;
}

/// What of a finding that does not limit now is saved once those above are done; kNothing of any.
std::string saving_after(const Table& findings, std::size_t row) {
  const Column* high = findings.column("after_high");
  if (high == nullptr || high->missing(row)) return "";
  if (!(number_at(*high, row) > 0) || when_of(findings, row) == When::covered) return std::string(kNothing);
  if (when_of(findings, row) != When::next) return "";
  return range_text(number_at(*findings.column("after_low"), row), number_at(*high, row), high->unit);
}

std::string range_of(const Table& findings, const Rows& rows) {
  const Column* low = findings.column("saving_low");
  const Column* high = findings.column("saving_high");
  if (high == nullptr || high->missing(rows.front())) return "";
  double least = low == nullptr ? 0 : number_at(*low, rows.front()), most = 0;
  for (const std::size_t row : rows) {
    least = std::min(least, low == nullptr ? 0 : number_at(*low, row));
    most = std::max(most, number_at(*high, row));
  }
  return range_text(least, most, high->unit);
}

/// " once 1–3 are done", of all that stand above.
std::string once_above(const Card& card) {
  if (card.place < 2) return "";
  std::vector<std::int64_t> above;
  for (std::size_t i = 1; i < card.place; ++i) above.push_back(static_cast<std::int64_t>(i));
  return fmt::format(" once {} {} done", listed_ranks(above), above.size() == 1 ? "is" : "are");
}

/// The remedy of the gravest row of "Health" when the recording cannot carry a conclusion.
std::string record_first(const Judgement& judgement) {
  const std::string bound = judgement.verdict == nullptr || judgement.verdict->rows() == 0
                                ? ""
                                : field(*judgement.verdict, "bound", 0);
  std::string remedy, gravest = "Z";
  for (std::size_t row = 0; judgement.health != nullptr && row < judgement.health->rows(); ++row) {
    const std::string grade = field(*judgement.health, "class", row);
    if (grade >= gravest) continue;
    gravest = grade;
    remedy = field(*judgement.health, "remedy", row);
  }
  const bool undecided =
      bound == "unknown" || bound == "too little to judge" || bound == "host times only" || gravest == "A";
  return undecided ? remedy : "";
}

}  // namespace

std::string listed_ranks(std::vector<std::int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last - i < 2) last = i;
    pieces.push_back(last == i ? std::to_string(ranks[i]) : fmt::format("{}–{}", ranks[i], ranks[last]));
    i = last + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    out += (i == 0 ? "" : i + 1 == pieces.size() ? " and " : ", ") + pieces[i];
  return out;
}

std::vector<Proof> proofs_of(std::string_view evidence) {
  std::vector<Proof> proofs;
  while (!evidence.empty()) {
    const std::size_t end = std::min(evidence.find("; "), evidence.size());
    const std::string_view text = evidence.substr(0, end);
    const std::size_t colon = text.find(':');
    const bool named = colon != std::string_view::npos && colon > 0 &&
                       text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == colon;
    proofs.push_back({named ? text.substr(0, colon) : "", text});
    evidence.remove_prefix(std::min(end + 2, evidence.size()));
  }
  return proofs;
}

Judgement judgement_of(std::span<const Report> reports) {
  Judgement judgement;
  for (const Report& report : reports) {
    for (const Table& table : report.tables) {
      const Place place = place_of(table);
      if (place == Place::verdict) judgement.verdict = &table;
      if (place == Place::findings) judgement.findings = &table;
      if (place == Place::health) judgement.health = &table;
    }
  }
  return judgement;
}

std::string words_of(std::string_view sentence) {
  std::string out;
  bool number = false;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    const std::string_view word = sentence.substr(at, end - at);
    const bool unit = number && word.size() <= 5;
    number = word.find_first_of("0123456789") != std::string_view::npos;
    if (!number && !unit) (out += word) += ' ';
    at = end + 1;
  }
  return out;
}

std::string saving_of(const Card& card) {
  if (card.range.empty()) return "";
  const std::string per = card.per_step ? " per step" : "";
  if (card.range == kNothing && (card.after.empty() || card.after == kNothing)) return "saves nothing";
  if (card.after.empty()) return "saves " + card.range + per;
  if (card.after == kNothing) return "saves " + card.range + per + " " + caveat_of(card);
  return "saves " + card.range + " now, " + card.after + per + once_above(card);
}

std::string caveat_of(const Card& card) {
  return card.after == kNothing && card.range != kNothing ? "alone; nothing" + once_above(card) : "";
}

const std::string& range_of(const Card& card) {
  return card.when == When::next && card.after != kNothing && !card.after.empty() ? card.after : card.range;
}

std::string_view heading_of(When when) {
  switch (when) {
    case When::now:
      return "What to change";
    case When::next:
      return "Next, once that is done";
    case When::covered:
      return "Nothing more once that is done";
    case When::fact:
      return "Also seen; no saving is known";
    case When::hidden:
      return "Nothing while something else limits";
    case When::small:
      break;
  }
  return "Too small to matter";
}

std::vector<Card> cards_of(const Judgement& judgement) {
  std::vector<Card> cards;
  if (judgement.findings == nullptr) return cards;
  const Table& table = *judgement.findings;
  for (const Rows& rows : rows_by(table, id_of)) {
    const std::size_t row = rows.front();
    cards.push_back({cards.size() + 1, id_of(table, row), field(table, "title", row),
                     said_of_ranks(table, rows, "title"), range_of(table, rows), saving_after(table, row),
                     field(table, "aside", row), field(table, "remedy", row), field(table, "confidence", row),
                     field(table, "because", row), field(table, "evidence", row), field(table, "verify", row),
                     when_of(table, row), field(table, "per", row) != "recording"});
  }
  return cards;
}

namespace {
/// "1–3": the findings that are made together; "all" where none has a saving of its own.
std::string members_of(const std::vector<Card>& cards) {
  std::vector<std::int64_t> places;
  for (const Card& card : cards)
    if (card.when == When::now && !card.range.empty())
      places.push_back(static_cast<std::int64_t>(card.place));
  return places.empty() ? "all" : listed_ranks(std::move(places));
}
}  // namespace

Sum together(const Judgement& judgement) {
  const Table* verdict = judgement.verdict;
  const Column* high = verdict == nullptr ? nullptr : verdict->column("together_high");
  double least = 0, most = 0;
  std::size_t row = 0, found = 0;  // the first rank that has several findings, and how many have
  for (std::size_t i = 0; high != nullptr && i < verdict->rows(); ++i) {
    if (high->missing(i)) continue;
    const double low = number_at(*verdict->column("together_low"), i);
    row = found == 0 ? i : row;
    least = found == 0 ? low : std::min(least, low);
    most = std::max(most, number_at(*high, i));
    ++found;
  }
  if (found == 0) return {};
  const bool several = verdict->rows() > 1;
  const std::vector<Card> cards = cards_of(judgement);
  Sum sum{(several ? "job, " : "") + members_of(cards) + " together", range_text(least, most, high->unit),
          ""};
  const Column* step = verdict->column("saved_from");
  if (step == nullptr || step->missing(row)) return sum;
  const double now = number_at(*step, row);
  sum.steps =
      format_value(*step, row) + " → " + range_text(now - most, now - least, step->unit) + " per step";
  const auto next =
      std::find_if(cards.begin(), cards.end(), [](const Card& card) { return card.when == When::next; });
  if (!several && next != cards.end())
    sum.steps += fmt::format("; then {} adds {}", next->place, range_of(*next));
  return sum;
}

std::vector<Sentence> sentences_of(const Table& verdict) {
  std::vector<Sentence> sentences;
  for (const Rows& rows : rows_by(verdict, words_of_headline))
    sentences.push_back({said_of_ranks(verdict, rows, "headline"), facts_of(verdict, rows.front())});
  return sentences;
}

std::string nothing_to_change(const Judgement& judgement) {
  const std::string remedy = record_first(judgement);
  return remedy.empty() ? "Nothing that this recording can prove worth changing."
                        : "First record again: " + remedy;
}

std::vector<Warning> warnings_of(const Judgement& judgement) {
  std::vector<Warning> warnings;
  if (judgement.health == nullptr) return warnings;
  const Table& health = *judgement.health;
  const bool changes = judgement.findings != nullptr && judgement.findings->rows() > 0;
  const std::string said = changes ? "" : record_first(judgement);
  for (const Rows& rows : rows_by(health, id_of)) {
    Warning warning{id_of(health, rows.front()), field(health, "what", rows.front()),
                    named_ranks(health, rows, "what"), ""};
    if (!warning.said.ends_with('.')) warning.said += '.';
    const std::string affected = field(health, "suffers", rows.front());
    const std::string remedy = field(health, "remedy", rows.front());
    if (!affected.empty()) warning.rest = "Affects " + affected + ".";
    if (!remedy.empty() && remedy != said) warning.rest += (warning.rest.empty() ? "" : " ") + remedy;
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

std::string text_of(const Warning& warning) {
  return (warning.whose.empty() ? "" : warning.whose + ": ") + warning.said +
         (warning.rest.empty() ? "" : " " + warning.rest);
}

std::string rest_of(const Warning& warning) { return warning.rest; }

std::string title_of_whole(const Judgement& judgement, const Table& whole) {
  if (whole.title != "Average step") return whole.title;
  const std::size_t ranks = judgement.verdict == nullptr ? 0 : judgement.verdict->rows();
  std::string title = ranks < 2 ? whole.title : fmt::format("{}, mean of {} ranks", whole.title, ranks);
  for (std::size_t row = 0; judgement.verdict != nullptr && row < judgement.verdict->rows(); ++row)
    if (field(*judgement.verdict, "steps", row) != "0") return title;
  return judgement.verdict == nullptr ? whole.title : "The whole recording";
}

std::vector<std::string> proving_analyses(const Judgement& judgement) {
  std::vector<std::string> names;
  for (const Table* table : {judgement.findings, judgement.verdict}) {
    for (std::size_t row = 0; table != nullptr && row < table->rows(); ++row) {
      const std::string evidence = field(*table, "evidence", row);
      for (const Proof& proof : proofs_of(evidence)) {
        const std::string name(proof.analysis);
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
          names.push_back(name);
      }
    }
  }
  return names;
}

}  // namespace stepscope::report
