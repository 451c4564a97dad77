// What to change, on one screen, before the cards with why and how.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/text/layout.h"
#include "report/text/parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kWarnings = 3;
constexpr std::size_t kTitleLines = 2, kAsideLines = 2, kRemedyLines = 3, kWarningLines = 2, kSumLines = 2;
constexpr std::size_t kWhole = 2;  // findings shown whole before others get a line

/// A finding's title after its caveats: nothing is left after those above, low confidence.
std::string title_of(const Card& card) {
  std::string caveat = caveat_of(card);
  if (card.finding->confidence == Confidence::low)
    caveat += caveat.empty() ? "low confidence" : "; low confidence";
  return caveat.empty() ? card.finding->title : "(" + caveat + ") " + card.finding->title;
}

std::string text_of(const Sum& sum) { return sum.whose + ": " + sum.steps; }

/// " 1  I01  35–59 ms  title"; each column is as wide as its widest entry.
class Rows {
 public:
  Rows(Sheet& sheet, const std::vector<Card>& cards, const Sum& sum) : sheet_(sheet) {
    for (const Card& card : cards) {
      id_ = std::max(id_, cells_of(name_of(card.finding->id)));
      range_ = std::max(range_, cells_of(range_of(card)));
    }
    range_ = std::max(range_, cells_of(sum.range));
  }

  std::size_t title_lines(const Card& card) const {
    return std::min(kTitleLines, wrapped(one_line(title_of(card)), room()).size());
  }
  std::size_t aside_lines(const Card& card) const {
    return lines_of(card.finding->aside, room(), kAsideLines);
  }
  std::size_t sum_lines(const Sum& sum) const {
    return sum.range.empty() ? 0 : lines_of(text_of(sum), room(), kSumLines);
  }
  std::size_t remedy_lines(const Card& card) const {
    return lines_of(card.finding->remedy, beside(), kRemedyLines);
  }
  /// Prints at most `most` lines of `text`; returns whether that is all.
  bool put(std::string_view number, std::string_view id, std::string_view range, std::string_view text,
           std::size_t most) {
    const auto [kept, whole] = cut(text, room(), most);
    const std::string front =
        padded(number, 2, false) + "  " + padded(id, id_) + "  " + padded(range, range_) + "  ";
    for (std::size_t i = 0; i < kept.size(); ++i)
      sheet_.line((i == 0 ? front : std::string(static_cast<std::size_t>(cells_of(front)), ' ')) +
                  (number.empty() ? kept[i] : sheet_.ink.bold(kept[i])));
    return whole;
  }
  /// Prints the aside in at most `most` lines.
  void put_aside(const Card& card, std::size_t most) {
    const std::string space(static_cast<std::size_t>(8 + id_ + range_), ' ');
    for (const std::string& line : cut(card.finding->aside, room(), most).first)
      sheet_.line(space + sheet_.ink.dim(line));
  }
  /// Prints the remedy in at most `most` lines; returns whether that is all.
  bool put_remedy(const Card& card, std::size_t most) {
    const auto [kept, whole] = cut(card.finding->remedy, beside(), most);
    const std::string space(static_cast<std::size_t>(8 + id_ + range_), ' ');
    for (std::size_t i = 0; i < kept.size(); ++i) sheet_.line(space + (i == 0 ? "→ " : "  ") + kept[i]);
    return whole;
  }

 private:
  int room() const { return std::max(8, sheet_.style.width - 8 - id_ - range_); }
  int beside() const { return room() - 2; }
  static std::size_t lines_of(const std::string& text, int width, std::size_t most) {
    return text.empty() ? 0 : std::min(most, wrapped(one_line(text), width).size());
  }
  /// The first `most` lines of `text`, and whether that is all.
  static std::pair<std::vector<std::string>, bool> cut(std::string_view text, int width, std::size_t most) {
    if (text.empty() || most == 0) return {{}, text.empty()};
    std::vector<std::string> kept = wrapped(one_line(text), width);
    if (kept.size() <= most) return {std::move(kept), true};
    return {first_clauses(one_line(text), width, most), false};
  }
  Sheet& sheet_;
  int id_ = 0, range_ = 0;
};

bool begins(const std::vector<Card>& cards, std::size_t i) {
  return i == 0 || cards[i].when() != cards[i - 1].when();
}

void put_heading(Sheet& sheet, const Card& card, bool first) {
  const std::string heading(heading_of(card.when())),
      more = card.finding->per_step ? ", and what it saves per step" : ", and what it saves";
  const bool fits = cells_of(heading) + cells_of(more) <= sheet.style.width;
  sheet.line(sheet.ink.bold(heading) + sheet.ink.dim(first && !card.range.empty() && fits ? more : ""));
}

/// Numbers of lines for a finding's title, aside and remedy.
struct Space {
  std::size_t title = 1, aside = 0, remedy = 0;
  std::size_t lines() const { return title + aside + remedy; }
};

Space whole_space(const Rows& rows, const Card& card) {
  return {rows.title_lines(card), rows.aside_lines(card), rows.remedy_lines(card)};
}

/// Gives a finding more lines while any are `left`: the first of the remedy before the rest of the title.
void widen(Space& space, const Space& whole, std::size_t& left) {
  const auto grow = [&](std::size_t& lines, std::size_t most) {
    const std::size_t more = std::min(left, most - std::min(most, lines));
    lines += more;
    left -= more;
  };
  grow(space.aside, whole.aside);
  grow(space.remedy, std::min<std::size_t>(1, whole.remedy));
  grow(space.title, whole.title);
  grow(space.remedy, whole.remedy);
}

/// Divides `room` lines: the first findings whole, then a line for each, then the rest of each in order. One
/// line is kept for "and N more".
std::vector<Space> divided(const Rows& rows, const std::vector<Card>& cards, std::size_t room) {
  std::vector<Space> spaces;
  std::size_t left = room;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    const std::size_t kept = i + 1 < cards.size() ? 1 : 0, lines = begins(cards, i) ? 2 : 1;
    if (i > 0 && left < lines + kept) break;
    left -= std::min(left, lines);
    spaces.push_back({});
    if (i >= kWhole || left < kept) continue;
    std::size_t free = left - kept;
    widen(spaces.back(), whole_space(rows, cards[i]), free);
    left = free + kept;
  }
  if (spaces.size() < cards.size()) left -= std::min<std::size_t>(left, 1);
  for (std::size_t i = 0; i < spaces.size(); ++i) widen(spaces[i], whole_space(rows, cards[i]), left);
  return spaces;
}

/// Prints findings in at most `room` lines; returns what was shown in full.
std::vector<Told::OfFinding> put_rows(Sheet& sheet, Rows& rows, const std::vector<Card>& cards,
                                      const Sum& sum, std::size_t room) {
  const std::vector<Space> spaces = divided(rows, cards, room);
  bool summed = sum.range.empty();
  const auto put_sum = [&] {
    if (!std::exchange(summed, true)) rows.put("", "", sum.range, text_of(sum), kSumLines);
  };
  std::vector<Told::OfFinding> told(cards.size());
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    if (cards[i].when() != When::now) put_sum();
    if (begins(cards, i)) put_heading(sheet, cards[i], i == 0);
    told[i].title = rows.put(std::to_string(i + 1), name_of(cards[i].finding->id), range_of(cards[i]),
                             title_of(cards[i]), spaces[i].title) &&
                    cards[i].finding->title == cards[i].title;
    rows.put_aside(cards[i], spaces[i].aside);
    told[i].aside = spaces[i].aside > 0;
    told[i].remedy = spaces[i].remedy > 0 && rows.put_remedy(cards[i], spaces[i].remedy);
  }
  if (spaces.size() < cards.size())
    sheet.line(sheet.ink.dim(fmt::format("    and {} more below", cards.size() - spaces.size())));
  put_sum();
  return told;
}

/// Prints the first warnings, a line each, or more while lines are `spare`. Returns which sentences are
/// whole.
std::vector<bool> put_warnings(Sheet& sheet, const std::vector<Warning>& warnings, std::size_t spare) {
  const std::size_t shown = std::min(warnings.size(), kWarnings);
  std::vector<bool> told;
  if (shown > 0) sheet.line();
  for (std::size_t i = 0; i < shown; ++i) {
    const int room = sheet.style.width - 2;
    std::vector<std::string> lines =
        wrapped(fmt::format("{}  {}", warnings[i].id, one_line(said_of(warnings[i]))), room);
    const std::size_t most = 1 + std::min(spare, kWarningLines - 1);
    told.push_back(lines.size() <= most);
    if (!told.back()) {
      lines.resize(1);
      lines[0] = broken_off(lines[0], room);
    }
    spare -= lines.size() - 1;
    for (std::size_t j = 0; j < lines.size(); ++j)
      sheet.line(j == 0 ? sheet.ink.paint(kWarningInk, "! ") + lines[j] : "  " + lines[j]);
  }
  if (shown < warnings.size())
    sheet.line(sheet.ink.dim(fmt::format("  and {} more below", warnings.size() - shown)));
  return told;
}

}  // namespace

Told put_summary(Sheet& sheet, const Verdict& verdict, std::size_t room) {
  const std::vector<Card> cards = cards_of(verdict);
  const std::vector<Warning> warnings = warnings_of(verdict);
  const Sum sum = together(verdict);
  const std::size_t warned = std::min(warnings.size(), kWarnings);
  Rows rows(sheet, cards, sum);
  std::size_t around = rows.sum_lines(sum) + (warned == 0 ? 0 : warned + 1) + (warned < warnings.size());
  if (cards.empty()) {
    const auto above = std::count(sheet.out.begin(), sheet.out.end(), '\n');
    sheet.line(sheet.ink.bold(heading_of(When::now)));
    sheet.paragraph("  ", nothing_to_change(verdict));
    around += static_cast<std::size_t>(std::count(sheet.out.begin(), sheet.out.end(), '\n') - above);
  }
  std::size_t needed = around;
  for (std::size_t i = 0; i < cards.size(); ++i)
    needed += whole_space(rows, cards[i]).lines() + begins(cards, i);
  Told told;
  told.findings = put_rows(sheet, rows, cards, sum, room > around ? room - around : 1);
  told.warnings = put_warnings(sheet, warnings, room > needed ? room - needed : 0);
  return told;
}

}  // namespace stepscope::report
