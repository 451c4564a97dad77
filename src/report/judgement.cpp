#include "report/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "report/names.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) return {text, ""};
  return {text.substr(0, space), text.substr(space)};
}

std::string range_text(double low, double high) {
  if (!(high > 0)) return std::string(kNothing);
  std::string most = format_rough(high, Unit::ns);
  if (!(low > 0)) return "up to " + most;
  const std::string least = format_rough(low, Unit::ns);
  if (least == most) return most;
  const auto [digits, suffix] = split_unit(least);
  return split_unit(most).second == suffix ? std::string(digits) + "–" + most : least + " – " + most;
}

/// 0 if not known.
double number(std::int64_t time) { return time == kNoInt ? 0 : static_cast<double>(time); }

/// Rows of several ranks that are shown as one, in their order.
template <class Row>
using Group = std::vector<const Row*>;

/// Groups of rows with the same key, in order of appearance.
template <class Row, class KeyOf>
std::vector<Group<Row>> grouped(const std::vector<Row>& rows, KeyOf key_of) {
  std::vector<Group<Row>> groups;
  for (const Row& row : rows) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Group<Row>& group) {
      return std::invoke(key_of, *group.front()) == std::invoke(key_of, row);
    });
    if (same == groups.end())
      groups.push_back({&row});
    else
      same->push_back(&row);
  }
  return groups;
}

/// The ranks of a group: "Ranks 0 and 1", or "Ranks 0 and 1 (rank 0 shown)" if their texts differ; "" for a
/// job of one rank.
template <class Row>
std::string named_ranks(const Group<Row>& group, std::string Row::* text, bool several) {
  std::vector<std::int64_t> ranks;
  bool same = true;
  for (const Row* row : group) {
    if (several) ranks.push_back(row->rank);
    same = same && row->*text == group.front()->*text;
  }
  if (ranks.empty()) return "";
  if (ranks.size() == 1) return fmt::format("Rank {}", ranks.front());
  const std::string whose = same ? "" : fmt::format(" (rank {} shown)", ranks.front());
  return fmt::format("Ranks {}{}", listed_ranks(ranks), whose);
}

/// The first row's `text`, after the ranks of the group.
template <class Row>
std::string said_of_ranks(const Group<Row>& group, std::string Row::* text, bool several) {
  const std::string whose = named_ranks(group, text, several);
  return (whose.empty() ? "" : whose + ": ") + group.front()->*text;
}

/// The saving after those above: kNothing if none is left, a range for a `next` finding, else "".
std::string saving_after(const Finding& finding) {
  if (!finding.after.known()) return "";
  if (finding.after.high <= 0 || finding.when == When::covered) return std::string(kNothing);
  if (finding.when != When::next) return "";
  return range_text(number(finding.after.low), number(finding.after.high));
}

std::string range_of(const Group<Finding>& group) {
  if (!group.front()->saving.known()) return "";
  double least = number(group.front()->saving.low), most = 0;
  for (const Finding* finding : group) {
    least = std::min(least, number(finding->saving.low));
    most = std::max(most, number(finding->saving.high));
  }
  return range_text(least, most);
}

/// " once 1–3 are done": all cards above this one.
std::string once_above(const Card& card) {
  if (card.place < 2) return "";
  std::vector<std::int64_t> above;
  for (std::size_t i = 1; i < card.place; ++i) above.push_back(static_cast<std::int64_t>(i));
  return fmt::format(" once {} {} done", listed_ranks(above), above.size() == 1 ? "is" : "are");
}

/// The remedy of the gravest health row, if that row prevents a conclusion; else "".
std::string record_first(const Verdict& verdict) {
  const auto gravest = std::min_element(verdict.health.begin(), verdict.health.end(),
                                        [](const Health& a, const Health& b) { return a.grade < b.grade; });
  if (gravest == verdict.health.end()) return "";
  const bool undecided = !verdict.ranks.empty() && (verdict.ranks.front().bound == Bound::unknown ||
                                                    verdict.ranks.front().bound == Bound::too_little ||
                                                    verdict.ranks.front().bound == Bound::host_only);
  return undecided || gravest->grade == HealthClass::A ? gravest->remedy : "";
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
  const std::string per = card.finding->per_step ? " per step" : "";
  if (card.range == kNothing && (card.after.empty() || card.after == kNothing)) return "saves nothing";
  if (card.after.empty()) return "saves " + card.range + per;
  if (card.after == kNothing) return "saves " + card.range + per + " " + caveat_of(card);
  return "saves " + card.range + " now, " + card.after + per + once_above(card);
}

std::string caveat_of(const Card& card) {
  return card.after == kNothing && card.range != kNothing ? "alone; nothing" + once_above(card) : "";
}

const std::string& range_of(const Card& card) {
  return card.when() == When::next && card.after != kNothing && !card.after.empty() ? card.after : card.range;
}

std::string_view heading_of(When when) {
  constexpr std::string_view kHeadings[] = {
      "What to change",
      "Next, once that is done",
      "Saves nothing more once that is done",
      "Also seen; no saving is known",
      "Next, but too small to matter",
      "Too small to matter",
  };
  return kHeadings[static_cast<std::size_t>(when)];
}

std::vector<Card> cards_of(const Verdict& verdict) {
  std::vector<Card> cards;
  for (const Group<Finding>& group : grouped(verdict.findings, &Finding::id))
    cards.push_back({cards.size() + 1, group.front(), said_of_ranks(group, &Finding::title, verdict.several),
                     range_of(group), saving_after(*group.front())});
  return cards;
}

namespace {

/// "1–3": the findings that are made together; "all" if none has a saving of its own.
std::string members_of(const std::vector<Card>& cards) {
  std::vector<std::int64_t> places;
  for (const Card& card : cards)
    if (card.when() == When::now && !card.range.empty())
      places.push_back(static_cast<std::int64_t>(card.place));
  return places.empty() ? "all" : listed_ranks(std::move(places));
}

}  // namespace

Sum together(const Verdict& verdict) {
  double least = 0, most = 0;
  const RankVerdict* first = nullptr;  // the first with a known sum
  for (const RankVerdict& rank : verdict.ranks) {
    if (!rank.together.known()) continue;
    least = first == nullptr ? number(rank.together.low) : std::min(least, number(rank.together.low));
    most = std::max(most, number(rank.together.high));
    if (first == nullptr) first = &rank;
  }
  if (first == nullptr || !(least > 0)) return {};  // a sum of hopes tells nobody anything
  const bool several = verdict.ranks.size() > 1;
  const std::vector<Card> cards = cards_of(verdict);
  Sum sum{(several ? "job, " : "") + members_of(cards) + " together", range_text(least, most), ""};
  if (first->saved_from == kNoInt) return sum;
  const double now = number(first->saved_from);
  const std::string rest =
      now - most > 0 ? range_text(now - most, now - least) : format_value(now - least, Unit::ns) + " or less";
  sum.steps = format_value(first->saved_from, Unit::ns) + " → " + rest + " per step";
  const auto next =
      std::find_if(cards.begin(), cards.end(), [](const Card& card) { return card.when() == When::next; });
  if (!several && next != cards.end())
    sum.steps += fmt::format("; then {} adds {}", next->place, range_of(*next));
  return sum;
}

std::vector<std::string> facts_of(const RankVerdict& rank) {
  if (rank.bound == Bound::memory) return {"a memory snapshot"};
  if (rank.bound == Bound::files) return {"file I/O alone"};
  if (rank.steps == 0) return {"no step marks"};
  const std::string length = format_value(rank.step, Unit::ns);
  return {format_value(rank.steps, Unit::count) + (rank.steps == 1 ? " step" : " steps") +
          (length.empty() ? "" : " of " + length) +
          (rank.found_by.empty() ? "" : ", found by " + short_name(rank.found_by, 40))};
}

std::vector<Sentence> sentences_of(const Verdict& verdict) {
  std::vector<Sentence> sentences;
  const auto words = [](const RankVerdict& rank) { return words_of(rank.headline); };
  for (const Group<RankVerdict>& group : grouped(verdict.ranks, words))
    sentences.push_back(
        {said_of_ranks(group, &RankVerdict::headline, verdict.ranks.size() > 1), facts_of(*group.front())});
  return sentences;
}

std::string nothing_to_change(const Verdict& verdict) {
  const std::string remedy = record_first(verdict);
  const bool is_io_alone =
      std::ranges::all_of(verdict.ranks, [](const RankVerdict& rank) { return rank.bound == Bound::files; });
  if (remedy.empty() && is_io_alone)
    return "Only file I/O is recorded, and it proves no change worth making. Operators of PyTorch are not "
           "recorded where a program on the way sets PYTHONPATH, nor with Python's options -I, -E and -S.";
  return remedy.empty() ? "This recording proves no change worth making." : "Record again first: " + remedy;
}

std::vector<Warning> warnings_of(const Verdict& verdict) {
  std::vector<Warning> warnings;
  const std::string said = verdict.findings.empty() ? record_first(verdict) : "";
  for (const Group<Health>& group : grouped(verdict.health, &Health::id)) {
    const Health& first = *group.front();
    Warning warning{name_of(first.id), first.what, named_ranks(group, &Health::what, verdict.several), ""};
    if (!warning.said.ends_with('.')) warning.said += '.';
    if (!first.suffers.empty()) warning.rest = "Affects " + first.suffers + ".";
    if (!first.remedy.empty() && first.remedy != said)
      warning.rest += (warning.rest.empty() ? "" : " ") + first.remedy;
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

std::string said_of(const Warning& warning) {
  return (warning.whose.empty() ? "" : warning.whose + ": ") + warning.said;
}

std::string text_of(const Warning& warning) {
  return said_of(warning) + (warning.rest.empty() ? "" : " " + warning.rest);
}

std::string title_of_whole(const Verdict* verdict, const Table& whole) {
  if (verdict == nullptr || !whole.divides_step) return whole.title;
  const bool marked = std::any_of(verdict->ranks.begin(), verdict->ranks.end(),
                                  [](const RankVerdict& rank) { return rank.steps > 0; });
  if (!marked) return "The whole recording";
  return verdict->ranks.size() < 2 ? whole.title
                                   : fmt::format("{}, mean of {} ranks", whole.title, verdict->ranks.size());
}

std::vector<std::string_view> proving_analyses(const Verdict& verdict) {
  std::vector<std::string_view> names;
  const auto add = [&](const Proof& proof) {
    if (!proof.analysis.empty() && std::find(names.begin(), names.end(), proof.analysis) == names.end())
      names.push_back(proof.analysis);
  };
  for (const Finding& finding : verdict.findings)
    for (const Proof& proof : finding.evidence) add(proof);
  for (const RankVerdict& rank : verdict.ranks) add(rank.evidence);
  return names;
}

}  // namespace stepscope::report
