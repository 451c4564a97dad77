#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/html/parts.h"
#include "report/names.h"
#include "report/text/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMaxRows = 300;
constexpr int kBrief = 30;  // letters of a text that stays on one line
constexpr int kMax = 80;    // letters shown of any text

bool blank(const Column& column) {
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!column.missing(row)) return false;
  return true;
}

int longest_of(const std::vector<std::string>& texts) {
  int longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, cells_of(text));
  return longest;
}

struct Cells {
  const Column* column;
  std::vector<std::string> texts;
  bool text;
  bool brief;       ///< a text that need not wrap
  double most = 0;  ///< max of the column; above 0: a bar is drawn after the number

  std::string_view css() const { return !text ? "number" : brief ? "short" : "text"; }
};

std::vector<Cells> cells_of_table(const Table& table, const Column*& depth) {
  std::vector<Cells> all;
  bool barred = false;
  std::vector<std::vector<std::string>> cells = format_cells(table);
  for (const Column& column : table.columns) {
    if (column.role == Role::depth && !is_text(column)) {
      depth = &column;
      continue;
    }
    if (column.role != Role::key && blank(column)) continue;
    std::vector<std::string> texts =
        std::move(cells[static_cast<std::size_t>(&column - table.columns.data())]);
    const bool brief = longest_of(texts) <= kBrief;
    all.push_back({&column, std::move(texts), is_text(column), brief});
    if (barred || column.role != Role::share || is_text(column) || table.rows() < 2) continue;
    barred = true;
    for (std::size_t row = 0; row < table.rows(); ++row)
      all.back().most = std::max(all.back().most, number_at(column, row));
  }
  return all;
}

/// A tooltip with what the cell leaves out: digits of a rounded number, the rest of a shortened name.
std::string tooltip(const Cells& cells, std::size_t row) {
  const Column& column = *cells.column;
  if (cells.text && !cells.brief && cells_of(cells.texts[row]) > kMax)
    return fmt::format(" title=\"{}\"", escaped(cells.texts[row]));
  const auto* ints = std::get_if<Ints>(&column.values);
  if (ints == nullptr || column.missing(row) || (column.unit != Unit::ns && column.unit != Unit::bytes))
    return "";
  return fmt::format(" title=\"{} {}\"", (*ints)[row], column.unit == Unit::ns ? "ns" : "bytes");
}

void put_head(std::string& out, const std::vector<Cells>& all, const Table& table) {
  out += "<thead><tr>";
  for (const Cells& cells : all) {
    out += fmt::format("<th scope=\"col\" class=\"{}\">{}</th>", cells.css(),
                       escaped(heading(*cells.column, table.columns)));
    if (cells.most > 0) out += "<td></td>";
  }
  out += "</tr></thead>\n";
}

void put_bar(std::string& out, double fraction) {
  out += fmt::format(
      R"(<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">)"
      R"(<rect class="bar-fill" width="{:.1f}" height="10"/></svg></td>)",
      std::clamp(fraction, 0.0, 1.0) * 100);
}

/// The CSS class for the direction of a change.
std::string_view direction(const Cells& cells, std::size_t row) {
  if (cells.column->role != Role::change) return "";
  const double change = number_at(*cells.column, row);
  return change > 0 ? " grew" : change < 0 ? " fell" : "";
}

/// The CSS class for a row's depth in a tree.
std::string indent(const Column* depth, std::size_t row) {
  const double deep = depth == nullptr ? 0 : std::clamp(number_at(*depth, row), 0.0, double{kDeepestIndent});
  return !(deep >= 1) ? "" : fmt::format(" in{}", static_cast<int>(deep));
}

void put_row(std::string& out, const std::vector<Cells>& all, const Column* depth, std::size_t row) {
  out += "<tr>";
  bool named = false;
  for (const Cells& cells : all) {
    const bool heads_row = !named && cells.column->role == Role::key;
    const std::string_view tag = heads_row ? "th" : "td";
    out += fmt::format("<{}{} class=\"{}{}{}\"{}", tag, heads_row ? " scope=\"row\"" : "", cells.css(),
                       direction(cells, row), heads_row ? indent(depth, row) : "", tooltip(cells, row));
    const std::string name = cells.text ? short_name(one_line(cells.texts[row]), kMax) : cells.texts[row];
    out += fmt::format(">{}</{}>", escaped(name), tag);
    if (cells.most > 0) put_bar(out, number_at(*cells.column, row) / cells.most);
    named = named || heads_row;
  }
  out += "</tr>\n";
}

}  // namespace

void put_html_table(std::string& out, const Table& table) {
  if (table.rows() == 0) {
    out += "<p class=\"more\">No rows.</p>\n";
    return;
  }
  const Column* depth = nullptr;
  const std::vector<Cells> all = cells_of_table(table, depth);
  const bool narrow = all.size() <= 3 && table.rows() > 1 && all.back().most == 0;
  out += fmt::format("<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>",
                     narrow ? " narrow" : "", escaped(table.title));
  put_head(out, all, table);
  out += "<tbody>\n";
  const std::size_t rows = std::min(table.rows(), kMaxRows);
  for (std::size_t row = 0; row < rows; ++row) put_row(out, all, depth, row);
  out += "</tbody></table></div>\n";
  if (rows < table.rows())
    out += fmt::format("<p class=\"more\">The first {} of {} rows; --format csv has all.</p>\n", rows,
                       format_value(static_cast<std::int64_t>(table.rows()), Unit::count));
}

}  // namespace stepscope::report
