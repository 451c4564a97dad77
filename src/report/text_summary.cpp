// What to change on one screen, ahead of the cards that say why and how.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/text_parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kWarnings = 3;
constexpr std::size_t kTitleLines = 2;

/// A finding in its line: with what it leaves when those above it are done.
std::string title_of(const Card& card) {
  return card.after == kNothing ? "(nothing after those above) " + card.said : card.said;
}

/// " 1  I01  35–59 ms  title", the columns as wide as the widest.
class Rows {
 public:
  Rows(Sheet& sheet, const std::vector<Card>& cards, const Sum& sum) : sheet_(sheet) {
    for (const Card& card : cards) {
      id_ = std::max(id_, cells_of(card.id));
      range_ = std::max(range_, cells_of(range_of(card)));
    }
    range_ = std::max(range_, cells_of(sum.range));
  }

  std::size_t lines(const Card& card) const {
    return std::min(kTitleLines, wrapped(one_line(title_of(card)), room()).size());
  }
  /// At most `most` lines of `text`; whether that is all.
  bool put(std::string_view number, std::string_view id, std::string_view range, std::string_view text,
           std::size_t most) {
    std::vector<std::string> kept = wrapped(one_line(text), room());
    const bool whole = kept.size() <= most;
    if (!whole) {
      kept.resize(most);
      kept.back() = broken_off(kept.back(), room());
    }
    const std::string front =
        padded(number, 2, true) + "  " + padded(id, id_) + "  " + padded(range, range_) + "  ";
    for (std::size_t i = 0; i < kept.size(); ++i)
      sheet_.line((i == 0 ? front : std::string(static_cast<std::size_t>(cells_of(front)), ' ')) +
                  (number.empty() ? kept[i] : sheet_.ink.bold(kept[i])));
    return whole;
  }
  /// What to do, as much of it as a line holds; whether that is all.
  bool put_remedy(const Card& card) {
    const std::string text = one_line(card.remedy);
    constexpr std::string_view kArrow = "→ ";
    const int beside = room() - cells_of(kArrow);
    const bool whole = cells_of(text) <= beside;
    sheet_.line(std::string(static_cast<std::size_t>(8 + id_ + range_), ' ') + std::string(kArrow) +
                (whole ? text : broken_off(text, beside)));
    return whole;
  }

 private:
  int room() const { return std::max(8, sheet_.style.width - 8 - id_ - range_); }
  static std::string padded(std::string_view text, int width, bool right = false) {
    const std::string space(static_cast<std::size_t>(std::max(0, width - cells_of(text))), ' ');
    return right ? space + std::string(text) : std::string(text) + space;
  }
  Sheet& sheet_;
  int id_ = 0, range_ = 0;
};

bool begins(const std::vector<Card>& cards, std::size_t i) {
  return i == 0 || cards[i].when != cards[i - 1].when;
}

void put_heading(Sheet& sheet, const Card& card, bool first) {
  const std::string heading(heading_of(card.when)), more = ", and what it saves per step";
  const bool fits = cells_of(heading) + cells_of(more) <= sheet.style.width;
  sheet.line(sheet.ink.bold(heading) + sheet.ink.dim(first && card.per_step && fits ? more : ""));
}

/// How a finding is told: the lines of its title, and whether one says what to do.
struct Space {
  std::size_t title = 1;
  bool remedy = false;
};

/// A line for each, then in order what to do and the rest of its title, as long as `room` has lines.
std::vector<Space> divided(const Rows& rows, const std::vector<Card>& cards, std::size_t room) {
  std::vector<Space> spaces(std::min(cards.size(), room));
  std::size_t left = room - spaces.size();
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    spaces[i].remedy = left > 0 && !cards[i].remedy.empty();
    left -= spaces[i].remedy;
    spaces[i].title += std::min(left, rows.lines(cards[i]) - 1);
    left -= spaces[i].title - 1;
  }
  return spaces;
}

/// Lines for findings, in at most `room`; what is told of them.
std::vector<Told> put_rows(Sheet& sheet, const std::vector<Card>& cards, const Sum& sum, std::size_t room) {
  Rows rows(sheet, cards, sum);
  const std::size_t shown = cards.size() <= room ? cards.size() : std::max<std::size_t>(1, room - 1);
  const std::vector<Space> spaces = divided(rows, cards, shown < cards.size() ? shown : room);
  bool summed = sum.range.empty();
  const auto put_sum = [&] {
    if (!std::exchange(summed, true)) rows.put("", "", sum.range, sum.whose + ": " + sum.steps, 1);
  };
  std::vector<Told> told(cards.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (cards[i].when != When::now) put_sum();
    if (begins(cards, i)) put_heading(sheet, cards[i], i == 0);
    told[i].title = rows.put(std::to_string(i + 1), cards[i].id, range_of(cards[i]), title_of(cards[i]),
                             spaces[i].title) &&
                    cards[i].said == cards[i].title;
    told[i].remedy = spaces[i].remedy && rows.put_remedy(cards[i]);
  }
  if (shown < cards.size())
    sheet.line(sheet.ink.dim(fmt::format("    and {} more below", cards.size() - shown)));
  put_sum();
  return told;
}

}  // namespace

std::vector<Told> put_summary(Sheet& sheet, const Judgement& judgement, std::size_t room) {
  const std::vector<Card> cards = cards_of(judgement);
  const std::vector<Warning> warnings = warnings_of(judgement);
  const Sum sum = together(judgement);
  const std::size_t warned = std::min(warnings.size(), kWarnings);
  std::size_t around = !sum.range.empty() + (warned == 0 ? 0 : warned + 1) + (warned < warnings.size());
  for (std::size_t i = 0; i < cards.size(); ++i) around += begins(cards, i);
  if (cards.empty()) {
    sheet.line(sheet.ink.bold(heading_of(When::now)));
    sheet.paragraph("  ", nothing_to_change(judgement));
  }
  std::vector<Told> told = put_rows(sheet, cards, sum, room > around ? room - around : 1);
  if (warned > 0) sheet.line();
  for (std::size_t i = 0; i < warned; ++i) {
    const std::string line = warnings[i].id + "  " + one_line(warnings[i].said);
    const int beside = sheet.style.width - 2;
    sheet.line(sheet.ink.paint(kWarningInk, "! ") +
               (cells_of(line) > beside ? broken_off(line, beside) : line));
  }
  if (warned < warnings.size())
    sheet.line(sheet.ink.dim(fmt::format("  and {} more below", warnings.size() - warned)));
  return told;
}

}  // namespace stepscope::report
