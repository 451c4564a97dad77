#include <fmt/format.h>

#include <algorithm>

#include "report/names.h"
#include "report/text/layout.h"
#include "report/text/notable.h"
#include "report/text/parts.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr int kMinBar = 8, kMaxBar = 24;
constexpr std::int64_t kDeepest = 16;  // levels of a tree that get guides

bool only_zeros(const Column& column) {
  for (std::size_t row = 0; row < column.size(); ++row)
    if (is_text(column) || column.missing(row) || number_at(column, row) != 0) return false;
  return true;
}

bool looks_like_a_number(const std::string& cell) {
  return cell.find_first_not_of("0123456789") == std::string::npos;
}

bool blank(const Column& column) {
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!column.missing(row)) return false;
  return true;
}

/// The lines and corners in front of a tree's names; rows are in pre-order.
std::vector<std::string> guides(const Table& table) {
  std::vector<std::string> out(table.rows());
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [](const Column& c) { return c.role == Role::depth && !is_text(c); });
  if (found == table.columns.end()) return out;
  std::vector<bool> sibling_below(kDeepest + 1, false);
  for (std::size_t row = out.size(); row-- > 0;) {
    const auto depth = static_cast<std::int64_t>(std::clamp(number_at(*found, row), 0.0, 1e6));
    const std::int64_t shown = std::min(depth, kDeepest);
    for (std::int64_t level = 1; level < shown; ++level) out[row] += sibling_below[level] ? "│ " : "  ";
    if (depth > kDeepest)
      out[row] += fmt::format("…{} ", depth);
    else if (depth > 0)
      out[row] += sibling_below[shown] ? "├ " : "└ ";
    sibling_below[shown] = true;
    std::fill(sibling_below.begin() + shown + 1, sibling_below.end(), false);
  }
  return out;
}

/// The column whose values the bars show: the first share, or in pictures the first number.
const Column* measured(const Table& table) {
  const bool picture = table.shape == Shape::bars || table.shape == Shape::flame;
  for (const Column& c : table.columns)
    if (c.role == Role::share && !is_text(c)) return &c;
  for (const Column& c : table.columns)
    if (picture && c.role == Role::value && !is_text(c)) return &c;
  return nullptr;
}

std::vector<Strip> strips_of(const Table& table, std::vector<std::string>& empty) {
  std::vector<Strip> strips;
  std::vector<std::string> front = guides(table);
  const Column* bars = table.rows() > 1 ? measured(table) : nullptr;
  std::vector<std::vector<std::string>> cells = format_cells(table);
  for (const Column& column : table.columns) {
    if (column.role == Role::depth) continue;
    if (column.role != Role::key && blank(column)) {
      empty.push_back(column.name);
      continue;
    }
    Strip strip;
    strip.column = &column;
    strip.name = heading(column, table.columns);
    strip.cells = std::move(cells[static_cast<std::size_t>(&column - table.columns.data())]);
    strip.zero = column.role == Role::value && only_zeros(column);
    if (is_text(column)) {
      strip.text = !std::all_of(strip.cells.begin(), strip.cells.end(), looks_like_a_number);
      for (std::size_t row = 0; row < strip.cells.size(); ++row)
        strip.cells[row] = (front.empty() ? "" : front[row]) + one_line(strip.cells[row]);
      front.clear();
    }
    strips.push_back(std::move(strip));
    if (&column != bars) continue;
    Strip picture;
    picture.bar = true;
    picture.natural = kMinBar;
    strips.push_back(std::move(picture));
  }
  return strips;
}

/// Gives the rest of the width to the bar, and draws it.
void draw_bars(std::vector<Strip>& strips, const Table& table, int width) {
  int used = -kGap;
  for (const Strip& s : strips) used += s.width + kGap;
  for (std::size_t i = 1; i < strips.size(); ++i) {
    if (!strips[i].bar) continue;
    strips[i].width = std::min(kMaxBar, strips[i].width + std::max(0, width - used));
    const Column& column = *strips[i - 1].column;
    double most = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) most = std::max(most, number_at(column, row));
    for (std::size_t row = 0; row < table.rows(); ++row)
      strips[i].cells.push_back(most > 0 ? bar(number_at(column, row) / most, strips[i].width) : "");
  }
}

void trim_right(std::string& text) { text.erase(text.find_last_not_of(' ') + 1); }

std::string header_line(const std::vector<Strip>& strips, std::size_t level, std::size_t levels) {
  std::string line;
  for (const Strip& s : strips) {
    const std::size_t skip = levels - s.header.size();
    const std::string cell = s.bar || level < skip ? "" : shortened(s.header[level - skip], s.width);
    if (&s != &strips.front()) line += std::string(kGap, ' ');
    line += padded(cell, s.width, s.text || s.bar);
  }
  trim_right(line);
  return line;
}

/// The colour of a bar, or of a change by its direction.
int ink_of(const Strip& strip, std::size_t row) {
  if (strip.bar) return kBarInk;
  if (strip.column == nullptr || strip.column->role != Role::change) return kPlainInk;
  const double change = number_at(*strip.column, row);
  return change > 0 ? kMoreInk : change < 0 ? kLessInk : kPlainInk;
}

/// A sentence, which is broken into lines; other texts are names, which are shortened.
bool is_sentence(const Strip& strip, const std::string& cell) {
  constexpr std::ptrdiff_t kMinSpaces = 3;
  return strip.text && strip.column->role != Role::key && cell.find("::") == std::string::npos &&
         cell.find('<') == std::string::npos && std::count(cell.begin(), cell.end(), ' ') >= kMinSpaces;
}

/// The lines of each cell of a row.
std::vector<std::vector<std::string>> lines_of_row(const std::vector<Strip>& strips, std::size_t row) {
  std::vector<std::vector<std::string>> cells;
  for (const Strip& s : strips) {
    const std::string& cell = s.cells[row];
    if (cells_of(cell) > s.width && is_sentence(s, cell))
      cells.push_back(wrapped(cell, s.width));
    else
      cells.push_back({short_name(cell, s.width)});
  }
  return cells;
}

std::string row_line(const Sheet& sheet, const std::vector<Strip>& strips, std::size_t row,
                     const std::vector<std::vector<std::string>>& cells, std::size_t level) {
  std::string line;
  std::string spaces;
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const Strip& s = strips[i];
    const std::string cell = padded(level < cells[i].size() ? cells[i][level] : "", s.width, s.text || s.bar);
    const std::size_t end = cell.find_last_not_of(' ') + 1;
    if (&s != &strips.front()) spaces += std::string(kGap, ' ');
    if (end > 0) {
      const std::string body = cell.substr(0, end);
      line += spaces + sheet.ink.paint(ink_of(s, row), body);
      spaces.clear();
    }
    spaces += cell.substr(end);
  }
  return line;
}

void put_row(Sheet& sheet, const std::vector<Strip>& strips, std::size_t row) {
  const std::vector<std::vector<std::string>> cells = lines_of_row(strips, row);
  std::size_t levels = 1;
  for (const std::vector<std::string>& lines : cells) levels = std::max(levels, lines.size());
  for (std::size_t level = 0; level < levels; ++level)
    sheet.line("  " + row_line(sheet, strips, row, cells, level));
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + spoken(name);
  return out;
}

/// One row that is too wide for a line: a line per column.
void put_record(Sheet& sheet, const Table& table) {
  int widest = 0;
  for (const Column& c : table.columns) widest = std::max(widest, cells_of(heading(c, table.columns)));
  widest = std::min(widest, sheet.style.width / 2);
  for (const Column& c : table.columns) {
    if (c.missing(0)) continue;
    const std::string name = padded(shortened(heading(c, table.columns), widest), widest, true);
    sheet.paragraph("  " + name + "  ", format_value(c, 0));
  }
}

Table with_rows(const Table& table, const std::vector<std::size_t>& rows) {
  Table picked{table.title, table.shape, {}};
  for (const Column& c : table.columns) {
    picked.columns.push_back({c.name, c.unit, c.role, {}});
    std::visit(
        [&](const auto& values) {
          std::decay_t<decltype(values)> kept;
          for (const std::size_t row : rows) kept.push_back(values[row]);
          picked.columns.back().values = std::move(kept);
        },
        c.values);
  }
  return picked;
}

}  // namespace

void put_grid(Sheet& sheet, const Table& whole) {
  const std::vector<std::size_t> rows = printed_rows(whole, sheet.style.max_rows);
  if (rows.size() < whole.rows()) {
    put_grid(sheet, with_rows(whole, rows));
    const std::string others =
        format_value(static_cast<std::int64_t>(whole.rows() - rows.size()), Unit::count);
    sheet.paragraph("  ", fmt::format("+ {} more {}; --top 0 shows all", others,
                                      is_by_rank(whole) ? "ranks, nearer to the median" : "rows"));
    return;
  }
  const Table& table = whole;
  if (table.rows() == 0) return sheet.line("  " + sheet.ink.dim("no rows"));
  constexpr int kIndent = 2;
  std::vector<std::string> empty;
  Layout layout = fit(strips_of(table, empty), sheet.style.width - kIndent);
  if (table.rows() == 1 && !layout.hidden.empty()) return put_record(sheet, table);
  draw_bars(layout.strips, table, sheet.style.width - kIndent);
  std::size_t levels = 0;
  for (const Strip& s : layout.strips) levels = std::max(levels, s.header.size());
  for (std::size_t level = 0; level < levels; ++level)
    sheet.line("  " + sheet.ink.dim(header_line(layout.strips, level, levels)));
  int used = -kGap;
  for (const Strip& s : layout.strips) used += s.width + kGap;
  sheet.line("  " + sheet.ink.dim(repeated("─", used)));
  for (std::size_t row = 0; row < table.rows(); ++row) put_row(sheet, layout.strips, row);
  if (!layout.hidden.empty())
    sheet.paragraph("  ", "not shown at this width: " + listed(layout.hidden) + "; --format csv has all");
  if (!empty.empty()) sheet.paragraph("  ", "not recorded: " + listed(empty));
}

}  // namespace stepscope::report
