#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/parts.h"
#include "report/units.h"
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

void put_by_place(Sheet& sheet, const Judgement& judgement, const Table& table, bool brief) {
  switch (place_of(table)) {
    case Place::verdict:
      return put_verdict(sheet, table, brief);
    case Place::health:
      return put_health(sheet, judgement, {});
    case Place::findings:
      return put_findings(sheet, judgement);
    default:
      return put_table(sheet, table);
  }
}

void put_notes(Sheet& sheet, const std::vector<std::string>& notes) {
  for (const std::string& note : notes) sheet.paragraph("! ", note, kWarningInk);
}

/// On a page: tables that divide a whole are one bar, findings have a summary that ends with the first
/// screen, health is what that left out (`told`), the others are as usual.
void put_in_page(Sheet& sheet, const Judgement& judgement, const Table& table, Told& told) {
  if (place_of(table) == Place::health) return put_health(sheet, judgement, told);
  if (place_of(table) == Place::findings) {
    const auto above = std::count(sheet.out.begin(), sheet.out.end(), '\n');
    const auto room = static_cast<std::size_t>(
        std::max<std::ptrdiff_t>(0, std::max(sheet.style.height, kMinHeight) - above));
    told = put_summary(sheet, judgement, room);
    return put_reasons(sheet, judgement, told);
  }
  const std::vector<Part> parts = parts_of(table);
  if (parts.empty()) return put_by_place(sheet, judgement, table, true);
  put_title(sheet, title_of_whole(judgement, table));
  put_whole(sheet, parts);
}

/// At spaces outside quotes, but an output stays with its option.
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

/// A command to copy: a line that is too long for the terminal goes on behind a backslash, as shells have it.
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

/// What was read, and of a single rank how long its steps are.
std::string first_line(const Page& page, const Judgement& judgement) {
  std::string line = one_line(page.title);
  if (judgement.verdict != nullptr && judgement.verdict->rows() == 1)
    for (const std::string& fact : facts_of(*judgement.verdict, 0))
      line += (line.empty() ? "" : " · ") + one_line(fact);
  return line;
}

bool has_lines(const Table& table) { return place_of(table) != Place::health || table.rows() > 0; }

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  Sheet sheet(style);
  const Judgement judgement = judgement_of({&report, 1});
  for (const Table& table : report.tables) {
    if (!has_lines(table)) continue;
    if (!sheet.out.empty()) sheet.line();
    put_by_place(sheet, judgement, table, false);
  }
  if (!report.notes.empty() && !sheet.out.empty()) sheet.line();
  put_notes(sheet, report.notes);
  return sheet.out;
}

std::string to_text(const Page& page, const TextStyle& style) {
  Sheet sheet(style);
  const Judgement judgement = judgement_of(page.reports);
  if (const std::string first = first_line(page, judgement); !first.empty())
    for (const std::string& line : wrapped(first, sheet.style.width)) sheet.line(sheet.ink.dim(line));
  bool noted = false, warned = false;
  Told told;
  const auto put_all_notes = [&] {
    const std::vector<std::string> notes = notes_of(page);
    if (!notes.empty() && !sheet.out.empty() && !warned) sheet.line();
    put_notes(sheet, notes);
    noted = true;
  };
  for (const Table* table : in_order(page)) {
    if (!has_lines(*table)) continue;
    if (place_of(*table) == Place::rest && !noted) put_all_notes();
    if (place_of(*table) != Place::verdict && !sheet.out.empty()) sheet.line();
    put_in_page(sheet, judgement, *table, told);
    warned = place_of(*table) == Place::health;
  }
  if (!noted) put_all_notes();
  if (!page.next.empty()) sheet.line();
  for (std::size_t i = 0; i < page.next.size(); ++i)
    put_command(sheet, i == 0 ? "next  " : "      ", one_line(page.next[i]));
  return sheet.out;
}

}  // namespace stepscope::report
