#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/layout.h"
#include "report/text_parts.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kOpenFindings = 5;
constexpr std::size_t kOpenSentences = 4;
constexpr std::size_t kBriefLines = 3;
constexpr int kLeastTitle = 28;  // cells a title keeps beside its saving

/// `line`, that goes on, in at most `room` cells: it loses whole words.
std::string broken_off(std::string line, int room) {
  for (std::size_t space = 0; cells_of(line) + 2 > room && (space = line.rfind(' ')) != line.npos;)
    line.resize(space);
  return clipped(line + " …", room);
}

/// `text` behind a short name, at most `most` lines.
void put_labelled(Sheet& sheet, std::string_view label, const std::string& text, std::size_t most) {
  if (text.empty()) return;
  constexpr int kIndent = 4, kLabel = 7;
  std::vector<std::string> lines = wrapped(one_line(text), sheet.style.width - kIndent - kLabel);
  if (most != 0 && lines.size() > most) {
    lines.resize(most);
    lines.back() = broken_off(lines.back(), sheet.style.width - kIndent - kLabel);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string front =
        i == 0 ? sheet.ink.dim(fmt::format("{:<{}}", label, kLabel)) : std::string(kLabel, ' ');
    sheet.line(std::string(kIndent, ' ') + front + lines[i]);
  }
}

void put_card(Sheet& sheet, const Card& card, std::size_t number, bool brief) {
  const std::string front = fmt::format("{:>2}  ", number);
  const int beside = sheet.style.width - 4 - cells_of(card.saving) - 2;
  const bool own_line = beside < kLeastTitle;
  const int room = card.saving.empty() || own_line ? sheet.style.width - 4 : beside;
  const std::vector<std::string> title = wrapped(one_line(card.title), room);
  for (std::size_t i = 0; i < title.size(); ++i) {
    std::string line = (i == 0 ? front : std::string(4, ' ')) + sheet.ink.bold(title[i]);
    if (i == 0 && !card.saving.empty() && !own_line)
      line += std::string(static_cast<std::size_t>(room - cells_of(title[i]) + 2), ' ') + card.saving;
    sheet.line(line);
  }
  if (own_line && !card.saving.empty()) sheet.line(std::string(4, ' ') + card.saving);
  const std::size_t most = brief ? kBriefLines : 0;
  put_labelled(sheet, "do", card.remedy, 0);
  put_labelled(sheet, "why",
               card.confidence + " confidence" + (card.because.empty() ? "" : ": " + card.because), most);
  put_labelled(sheet, "see", card.evidence, most);
  if (!brief) put_labelled(sheet, "check", card.verify, 0);
}

}  // namespace

void Sheet::paragraph(std::string_view first, std::string_view text, int colour) {
  const int indent = cells_of(first);
  const std::vector<std::string> lines = wrapped(one_line(text), std::max(16, style.width - indent));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += i == 0 ? ink.paint(colour, first) : std::string(static_cast<std::size_t>(indent), ' ');
    line(lines[i]);
  }
}

void put_verdict(Sheet& sheet, const Table& table, bool brief) {
  const std::vector<Sentence> sentences = sentences_of(table);
  const std::size_t shown = brief ? std::min(sentences.size(), kOpenSentences) : sentences.size();
  for (std::size_t i = 0; i < shown; ++i) {
    for (const std::string& text : wrapped(one_line(sentences[i].headline), sheet.style.width))
      sheet.line(sheet.ink.bold(text));
    std::string facts;
    for (const std::string& fact : sentences[i].facts) facts += (facts.empty() ? "" : " · ") + one_line(fact);
    if (facts.empty()) continue;
    for (const std::string& text : wrapped(facts, sheet.style.width)) sheet.line(sheet.ink.dim(text));
  }
  if (shown < sentences.size())
    sheet.line(fmt::format("+ {} more verdicts of other ranks", sentences.size() - shown));
}

void put_findings(Sheet& sheet, const Judgement& judgement, bool brief) {
  sheet.line(sheet.ink.bold("What to change"));
  const std::vector<Card> cards = cards_of(judgement);
  if (cards.empty()) return sheet.paragraph("  ", nothing_to_change(judgement));
  const std::size_t open = brief ? std::min(cards.size(), kOpenFindings) : cards.size();
  std::string sum = together(judgement);
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (cards[i].next && !std::exchange(sum, "").empty()) sheet.paragraph("    ", together(judgement));
    if (cards[i].next && (i == 0 || !cards[i - 1].next)) sheet.line(sheet.ink.bold(kNextHeading));
    if (i < open)
      put_card(sheet, cards[i], i + 1, brief);
    else
      sheet.paragraph("    also: ", cards[i].title);
  }
  if (!sum.empty()) sheet.paragraph("    ", sum);
}

void put_health(Sheet& sheet, const Judgement& judgement) {
  for (const std::string& line : health_lines(judgement)) sheet.paragraph("! ", line, kWarningInk);
}

}  // namespace stepscope::report
