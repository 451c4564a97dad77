#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/text/layout.h"
#include "report/text/parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kOpenFindings = 5;
constexpr std::size_t kOpenSentences = 4;
constexpr std::size_t kBriefLines = 2;
constexpr int kMinTitle = 28;  // cells a title keeps beside its saving

/// The lines of a card, indented like its title; the first begins with the number and the id.
class CardLines {
 public:
  CardLines(Sheet& sheet, const Card& card, std::size_t number)
      : sheet_(sheet),
        front_(fmt::format("{:>2}  {}  ", number, name_of(card.finding->id))),
        indent_(cells_of(front_)) {}
  int indent() const { return indent_; }
  void line(const std::string& text) {
    sheet_.line(front_ + text);
    front_.assign(static_cast<std::size_t>(indent_), ' ');
  }
  /// `text` after a short label, in at most `most` lines; 0: in all.
  void labelled(std::string_view label, const std::string& text, std::size_t most) {
    if (text.empty()) return;
    constexpr int kLabel = 7;
    const int room = sheet_.style.width - indent_ - kLabel;
    std::vector<std::string> lines = wrapped(one_line(text), room);
    if (most != 0) lines = first_clauses(one_line(text), room, most);
    for (std::size_t i = 0; i < lines.size(); ++i)
      line((i == 0 ? sheet_.ink.dim(fmt::format("{:<{}}", label, kLabel)) : std::string(kLabel, ' ')) +
           lines[i]);
  }

 private:
  Sheet& sheet_;
  std::string front_;
  const int indent_;
};

/// The title, with the saving beside or below it.
void put_title(CardLines& lines, const Sheet& sheet, const Card& card) {
  const std::string saving = saving_of(card);
  const int whole = sheet.style.width - lines.indent(), beside = whole - cells_of(saving) - 2;
  const bool own_line = beside < kMinTitle;
  const int room = saving.empty() || own_line ? whole : beside;
  const std::vector<std::string> title = wrapped(one_line(card.title), room);
  for (std::size_t i = 0; i < title.size(); ++i) {
    std::string line = sheet.ink.bold(title[i]);
    if (i == 0 && !saving.empty() && !own_line)
      line += std::string(static_cast<std::size_t>(room - cells_of(title[i]) + 2), ' ') + saving;
    lines.line(line);
  }
  if (own_line && !saving.empty()) lines.line(saving);
}

/// `brief`: why and see are cut short; what to do and how to check it are not.
void put_card(Sheet& sheet, const Card& card, std::size_t number, Told::OfFinding told, bool brief) {
  CardLines lines(sheet, card, number);
  if (!told.title) put_title(lines, sheet, card);
  const Finding& finding = *card.finding;
  if (!told.aside) lines.labelled("note", finding.aside, 0);
  const std::size_t most = brief ? kBriefLines : 0;
  if (!told.remedy) lines.labelled("do", finding.remedy, 0);
  lines.labelled("why",
                 fmt::format("{} confidence{}{}", name_of(finding.confidence),
                             finding.because.empty() ? "" : ": ", finding.because),
                 most);
  lines.labelled("see", text_of(finding.evidence), most);
  lines.labelled("check", finding.verify, 0);
}

}  // namespace

std::string broken_off(std::string line, int room) {
  for (std::size_t space = 0; cells_of(line) + 2 > room && (space = line.rfind(' ')) != line.npos;)
    line.resize(space);
  return clipped(line + " …", room);
}

std::vector<std::string> first_clauses(std::string_view text, int width, std::size_t most) {
  constexpr std::string_view kEnds[] = {"; ", ". ", ": ", ", ", " ("};
  std::vector<std::string> kept = wrapped(text, width);
  if (kept.size() <= most) return kept;
  kept.resize(most);
  std::size_t shown = 0;
  for (const std::string& line : kept) shown += line.size() + 1;
  for (std::size_t at = std::min(shown, text.size()); at * 2 > shown; --at) {
    const std::string_view rest = text.substr(at), front = text.substr(0, at);
    const bool ends = std::any_of(std::begin(kEnds), std::end(kEnds),
                                  [&](std::string_view end) { return rest.starts_with(end); });
    const bool open =
        std::count(front.begin(), front.end(), '(') > std::count(front.begin(), front.end(), ')');
    if (!ends || open || rest.starts_with(", or ") || rest.starts_with(", and ")) continue;
    std::vector<std::string> clauses = wrapped(std::string(front) + " …", width);
    if (clauses.size() <= most) return clauses;
  }
  for (const std::string_view word : {" or", " and"})
    if (kept.back().ends_with(word)) kept.back().resize(kept.back().size() - word.size());
  kept.back() = broken_off(kept.back(), width);
  return kept;
}

void Sheet::paragraph(std::string_view first, std::string_view text, int colour) {
  const int indent = cells_of(first);
  const std::vector<std::string> lines = wrapped(one_line(text), std::max(16, style.width - indent));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += i == 0 ? ink.paint(colour, first) : std::string(static_cast<std::size_t>(indent), ' ');
    line(lines[i]);
  }
}

void put_headline(Sheet& sheet, std::string_view sentence) {
  for (const std::string& text : wrapped(one_line(sentence), sheet.style.width))
    sheet.line(sheet.ink.bold(text));
}

void put_verdict(Sheet& sheet, const Verdict& verdict, bool brief) {
  const std::vector<Sentence> sentences = sentences_of(verdict);
  const std::size_t shown = brief ? std::min(sentences.size(), kOpenSentences) : sentences.size();
  for (std::size_t i = 0; i < shown; ++i) {
    put_headline(sheet, sentences[i].headline);
    std::string facts;
    for (const std::string& fact : sentences[i].facts) facts += (facts.empty() ? "" : " · ") + one_line(fact);
    if (facts.empty() || (brief && verdict.ranks.size() == 1)) continue;
    for (const std::string& text : wrapped(facts, sheet.style.width)) sheet.line(sheet.ink.dim(text));
  }
  if (shown < sentences.size())
    sheet.line(fmt::format("+ {} more verdicts of other ranks", sentences.size() - shown));
}

void put_findings(Sheet& sheet, const Verdict& verdict) {
  const std::vector<Card> cards = cards_of(verdict);
  if (cards.empty()) {
    sheet.line(sheet.ink.bold(heading_of(When::now)));
    sheet.paragraph("  ", nothing_to_change(verdict));
  }
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (i == 0 || cards[i].when() != cards[i - 1].when())
      sheet.line(sheet.ink.bold(heading_of(cards[i].when())));
    put_card(sheet, cards[i], i + 1, {}, false);
  }
}

void put_reasons(Sheet& sheet, const Verdict& verdict, const Told& told) {
  const std::vector<Card> cards = cards_of(verdict);
  if (cards.empty()) return;
  sheet.line();
  sheet.line(sheet.ink.bold("How and why"));
  for (std::size_t i = 0; i < cards.size(); ++i) {
    if (i < kOpenFindings)
      put_card(sheet, cards[i], i + 1, told.findings[i], true);
    else
      sheet.paragraph("    also: ", cards[i].title);
  }
}

void put_health(Sheet& sheet, const Verdict& verdict, const Told& told) {
  const std::vector<Warning> warnings = warnings_of(verdict);
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const bool said = i < told.warnings.size() && told.warnings[i];
    const std::string text = said ? warnings[i].rest : text_of(warnings[i]);
    if (!text.empty()) sheet.paragraph("! ", fmt::format("{}  {}", warnings[i].id, text), kWarningInk);
  }
}

}  // namespace stepscope::report
