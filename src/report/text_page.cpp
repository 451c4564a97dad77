#include <fmt/format.h>

#include <algorithm>

#include "report/layout.h"
#include "report/text_parts.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kOpenFindings = 5;
constexpr std::size_t kOpenRanks = 4;
constexpr std::size_t kBriefLines = 3;
constexpr int kLeastTitle = 24;  // cells a title keeps beside its saving

/// `text` behind a short name, at most `most` lines.
void put_labelled(Sheet& sheet, std::string_view label, const std::string& text, std::size_t most) {
  if (text.empty()) return;
  constexpr int kIndent = 4, kLabel = 7;
  std::vector<std::string> lines = wrapped(one_line(text), sheet.style.width - kIndent - kLabel);
  if (most != 0 && lines.size() > most) {
    lines.resize(most);
    lines.back() = clipped(lines.back() + " …", sheet.style.width - kIndent - kLabel);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string front =
        i == 0 ? sheet.ink.dim(fmt::format("{:<{}}", label, kLabel)) : std::string(kLabel, ' ');
    sheet.line(std::string(kIndent, ' ') + front + lines[i]);
  }
}

void put_card(Sheet& sheet, const Table& table, std::size_t row, bool brief) {
  const std::string rank = field(table, "rank", row);
  const std::string saving = saving_of(table, row);
  const std::string end = saving.empty() ? "" : "saves " + saving + "/step";
  const std::string front = fmt::format("{:>2}  ", rank.empty() ? std::to_string(row + 1) : rank);
  const int beside = sheet.style.width - 4 - cells_of(end) - 2;
  const bool own_line = beside < kLeastTitle;
  const int room = end.empty() || own_line ? sheet.style.width - 4 : beside;
  const std::vector<std::string> title = wrapped(one_line(title_of(table, row)), room);
  for (std::size_t i = 0; i < title.size(); ++i) {
    std::string line = (i == 0 ? front : std::string(4, ' ')) + sheet.ink.bold(title[i]);
    if (i == 0 && !end.empty() && !own_line)
      line += std::string(static_cast<std::size_t>(room - cells_of(title[i]) + 2), ' ') + end;
    sheet.line(line);
  }
  if (own_line && !end.empty()) sheet.line(std::string(4, ' ') + end);
  const std::size_t most = brief ? kBriefLines : 0;
  put_labelled(sheet, "do", field(table, "remedy", row), most);
  const std::string confidence = field(table, "confidence", row);
  const std::string because = field(table, "because", row);
  const std::string sure =
      confidence.empty() ? "" : confidence + " confidence" + (because.empty() ? "" : ": ");
  put_labelled(sheet, "why", sure + because, most);
  put_labelled(sheet, "see", field(table, "evidence", row), most);
  if (!brief) put_labelled(sheet, "check", field(table, "verify", row), 0);
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
  const std::size_t shown = brief ? std::min(table.rows(), kOpenRanks) : table.rows();
  for (std::size_t row = 0; row < shown; ++row) {
    for (const std::string& text : wrapped(one_line(headline_of(table, row)), sheet.style.width))
      sheet.line(sheet.ink.bold(text));
    std::string facts;
    for (const std::string& fact : facts_of(table, row))
      facts += (facts.empty() ? "" : " · ") + one_line(fact);
    if (facts.empty()) continue;
    for (const std::string& text : wrapped(facts, sheet.style.width)) sheet.line(sheet.ink.dim(text));
  }
  if (shown < table.rows()) sheet.line(fmt::format("+ {} more ranks", table.rows() - shown));
}

void put_findings(Sheet& sheet, const Table& table, bool brief) {
  sheet.line(sheet.ink.bold("What to change"));
  if (table.rows() == 0) return sheet.line("  Nothing that this recording can prove worth changing.");
  const std::size_t open = brief ? std::min(table.rows(), kOpenFindings) : table.rows();
  for (std::size_t row = 0; row < open; ++row) put_card(sheet, table, row, brief);
  for (std::size_t row = open; row < table.rows(); ++row)
    sheet.line("    " + shortened("also: " + one_line(title_of(table, row)), sheet.style.width - 4));
}

void put_health(Sheet& sheet, const Table& table) {
  for (const std::string& line : health_lines(table)) sheet.paragraph("! ", line, kWarningInk);
}

}  // namespace stepscope::report
