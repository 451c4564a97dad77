#include "report/text/text.h"

#include <algorithm>

#include "report/text/parts.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr int kMinHeight = 24;

void put_title(Sheet& sheet, const std::string& title) {
  if (!title.empty()) sheet.line(sheet.ink.bold(shortened(one_line(title), sheet.style.width)));
}

void put_table(Sheet& sheet, const Table& table) {
  put_title(sheet, table.title);
  if (const auto stack = stack_of(table); stack && table.rows() > 0) {
    put_stack(sheet, table, *stack);
    sheet.line();
  }
  const bool drawn = (table.shape == Shape::curve && put_curve(sheet, table)) ||
                     (table.shape == Shape::matrix && put_matrix(sheet, table));
  if (!drawn) put_grid(sheet, table);
}

void put_notes(Sheet& sheet, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) sheet.paragraph("! ", note, kWarningInk);
}

/// On a page, a table that divides a whole is one bar.
void put_whole_table(Sheet& sheet, const Page& page, const Table& table) {
  if (!sheet.out.empty()) sheet.line();
  put_title(sheet, title_of_whole(page.verdict ? &*page.verdict : nullptr, table));
  put_whole(sheet, parts_of(table));
}

/// The summary, which ends with the first screen, then what it left out.
void put_advice(Sheet& sheet, const Verdict& verdict) {
  if (!sheet.out.empty()) sheet.line();
  const auto above = std::count(sheet.out.begin(), sheet.out.end(), '\n');
  const auto room =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, std::max(sheet.style.height, kMinHeight) - above));
  const Told told = put_summary(sheet, verdict, room);
  put_reasons(sheet, verdict, told);
  if (verdict.health.empty()) return;
  sheet.line();
  put_health(sheet, verdict, told);
}

/// Splits at spaces outside quotes; "-o" stays with its file name.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : command) {
    quoted ^= c == '\'';
    if (c == ' ' && !quoted && words.back() != "-o")
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

/// A command to copy: a line that is too long for the terminal continues after a backslash, as in shells.
void put_command(Sheet& sheet, std::string_view first, const std::string& command) {
  const std::vector<std::string> words = words_of(command);
  std::string line = std::string(first) + words.front();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const int ending = i + 1 == words.size() ? 0 : 2;
    if (cells_of(line) + 1 + cells_of(words[i]) + ending > sheet.style.width) {
      sheet.line(line + " \\");
      line = "        " + words[i];
    } else {
      line += ' ' + words[i];
    }
  }
  sheet.line(line);
}

/// What was read; for a single rank, also its steps.
std::string first_line(const Page& page) {
  std::string line = one_line(page.title);
  if (page.verdict && page.verdict->ranks.size() == 1)
    for (const std::string& fact : facts_of(page.verdict->ranks.front()))
      line += (line.empty() ? "" : " · ") + one_line(fact);
  return line;
}

/// The tables of a page that divide a whole, or the others.
std::vector<const Table*> tables_of(const Page& page, bool wholes) {
  std::vector<const Table*> tables;
  for (const Report& report : answers(page))
    for (const Table& table : report.tables)
      if (shows_whole(table) == wholes) tables.push_back(&table);
  return tables;
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style, const std::string& headline) {
  Sheet sheet(style);
  if (!headline.empty()) put_headline(sheet, headline);
  for (std::size_t i = headline.empty() ? 0 : 1; i < report.tables.size(); ++i) {
    if (!sheet.out.empty()) sheet.line();
    put_table(sheet, report.tables[i]);
  }
  if (!report.notes.empty() && !sheet.out.empty()) sheet.line();
  put_notes(sheet, report.notes);
  return sheet.out;
}

std::string to_text(const Verdict& verdict, const TextStyle& style) {
  Sheet sheet(style);
  put_verdict(sheet, verdict, false);
  if (!sheet.out.empty()) sheet.line();
  put_findings(sheet, verdict);
  if (!verdict.health.empty()) sheet.line();
  put_health(sheet, verdict, {});
  if (!verdict.notes.empty()) sheet.line();
  put_notes(sheet, verdict.notes);
  return sheet.out;
}

std::string to_text(const Page& page, const TextStyle& style) {
  Sheet sheet(style);
  if (const std::string first = first_line(page); !first.empty())
    for (const std::string& line : wrapped(first, sheet.style.width)) sheet.line(sheet.ink.dim(line));
  if (page.verdict) put_verdict(sheet, *page.verdict, true);
  for (const Table* table : tables_of(page, true)) put_whole_table(sheet, page, *table);
  if (page.verdict) put_advice(sheet, *page.verdict);
  const std::vector<std::string> notes = notes_of(page);
  const bool warned = page.verdict && !page.verdict->health.empty();
  if (!notes.empty() && !sheet.out.empty() && !warned) sheet.line();
  put_notes(sheet, notes);
  for (const Table* table : tables_of(page, false)) {
    if (!sheet.out.empty()) sheet.line();
    put_table(sheet, *table);
  }
  if (!page.next.empty()) sheet.line();
  for (std::size_t i = 0; i < page.next.size(); ++i)
    put_command(sheet, i == 0 ? "next  " : "      ", one_line(page.next[i]));
  return sheet.out;
}

}  // namespace stepscope::report
