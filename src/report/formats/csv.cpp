#include "report/formats/csv.h"

#include <fmt/format.h>

#include "report/utf8.h"

namespace stepscope::report {
namespace {

void put_field(std::string& out, std::string_view raw) {
  const std::string text = without_controls(raw);
  if (text.find_first_of("\",\r\n") == std::string::npos && !text.starts_with(' ') &&
      !text.starts_with('#')) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void put_csv_value(std::string& out, const Column& column, std::size_t row) {
  if (column.missing(row)) return;
  if (const auto* ints = std::get_if<Ints>(&column.values))
    out += fmt::format("{}", (*ints)[row]);
  else if (const auto* reals = std::get_if<Reals>(&column.values))
    out += fmt::format("{}", (*reals)[row]);
  else
    put_field(out, std::get<Texts>(column.values)[row]);
}

void put_head(std::string& out, const Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i != 0) out += ',';
    put_field(out, table.columns[i].name);
  }
  out += "\r\n";
}

void put_rows(std::string& out, const Table& table) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::size_t before = out.size();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i != 0) out += ',';
      put_csv_value(out, table.columns[i], row);
    }
    // A row of one empty field would read as the blank line between tables.
    if (out.size() == before) out += "\"\"";
    out += "\r\n";
  }
}

void put_titled(std::string& out, const Table& table, std::string_view title) {
  if (!out.empty()) out += "\r\n";
  out += "# " + one_line(title) + "\r\n";
  put_head(out, table);
  put_rows(out, table);
}

}  // namespace

std::string csv_head(const Table& table) {
  std::string out;
  put_head(out, table);
  return out;
}

std::string csv_rows(const Table& table) {
  std::string out;
  put_rows(out, table);
  return out;
}

std::string to_csv(const Table& table) { return csv_head(table) + csv_rows(table); }

std::string to_csv(const Report& report) {
  if (report.tables.size() == 1) return to_csv(report.tables.front());
  std::string out;
  for (const Table& table : report.tables) put_titled(out, table, table.title);
  return out;
}

std::string to_csv(std::span<const Report> reports) {
  if (reports.size() == 1) return to_csv(reports.front());
  std::string out;
  for (const Report& report : reports)
    for (const Table& table : report.tables) put_titled(out, table, report.name + ": " + table.title);
  return out;
}

}  // namespace stepscope::report
