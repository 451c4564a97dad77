#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html_parts.h"
#include "report/layout.h"
#include "report/units.h"
#include "report/utf8.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kMostRows = 500;
constexpr double kDeepestIndent = 24;

bool is_text(const Column& column) { return std::holds_alternative<Texts>(column.values); }

bool blank(const Column& column) {
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!column.missing(row)) return false;
  return true;
}

struct Cells {
  const Column* column;
  std::vector<std::string> texts;
  double most = 0;  ///< above 0: draw a bar behind it
};

std::vector<Cells> cells_of_table(const Table& table, const Column*& depth) {
  std::vector<Cells> all;
  bool barred = false;
  for (const Column& column : table.columns) {
    if (column.role == Role::depth && !is_text(column)) {
      depth = &column;
      continue;
    }
    if (column.role != Role::key && blank(column)) continue;
    all.push_back({&column, format_cells(column)});
    if (barred || column.role != Role::share || is_text(column) || table.rows() < 2) continue;
    barred = true;
    for (std::size_t row = 0; row < table.rows(); ++row)
      all.back().most = std::max(all.back().most, number_at(column, row));
  }
  return all;
}

/// The value behind a rounded one, for a tooltip.
std::string exact(const Column& column, std::size_t row) {
  const auto* ints = std::get_if<Ints>(&column.values);
  if (ints == nullptr || column.missing(row) || (column.unit != Unit::ns && column.unit != Unit::bytes))
    return "";
  return fmt::format(" title=\"{} {}\"", (*ints)[row], column.unit == Unit::ns ? "ns" : "bytes");
}

void put_head(std::string& out, const std::vector<Cells>& all) {
  out += "<thead><tr>";
  for (const Cells& cells : all) {
    out += fmt::format("<th scope=\"col\"{}>{}</th>", is_text(*cells.column) ? "" : " class=\"number\"",
                       escaped(spoken(cells.column->name)));
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

void put_row(std::string& out, const std::vector<Cells>& all, const Column* depth, std::size_t row) {
  out += "<tr>";
  bool named = false;
  for (const Cells& cells : all) {
    const Column& column = *cells.column;
    const bool heads_row = !named && column.role == Role::key;
    std::string attributes = heads_row ? " scope=\"row\"" : "";
    attributes +=
        is_text(column) ? (heads_row ? "" : " class=\"text\"") : " class=\"number\"" + exact(column, row);
    if (heads_row && depth != nullptr)
      attributes += fmt::format(" style=\"padding-left:{:.1f}em\"",
                                0.9 + 1.3 * std::clamp(number_at(*depth, row), 0.0, kDeepestIndent));
    const std::string_view tag = heads_row ? "th" : "td";
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, attributes, escaped(cells.texts[row]));
    if (cells.most > 0) put_bar(out, number_at(column, row) / cells.most);
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
  out += fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>",
                     escaped(table.title));
  put_head(out, all);
  out += "<tbody>\n";
  const std::size_t rows = std::min(table.rows(), kMostRows);
  for (std::size_t row = 0; row < rows; ++row) put_row(out, all, depth, row);
  out += "</tbody></table></div>\n";
  if (rows < table.rows())
    out += fmt::format("<p class=\"more\">The first {} of {} rows; --format csv has all.</p>\n", rows,
                       format_value(static_cast<std::int64_t>(table.rows()), Unit::count));
}

}  // namespace stepscope::report
