#include "report/formats/json.h"

#include <fmt/format.h>

#include "base/text.h"

namespace stepscope::report {
namespace {

void put_json_value(std::string& out, const Column& column, std::size_t row) {
  if (column.missing(row)) {
    out += "null";
  } else if (const auto* ints = std::get_if<Ints>(&column.values)) {
    out += fmt::format("{}", (*ints)[row]);
  } else if (const auto* reals = std::get_if<Reals>(&column.values)) {
    out += fmt::format("{}", (*reals)[row]);
  } else {
    append_json(out, std::get<Texts>(column.values)[row]);
  }
}

void put_column(std::string& out, const Column& column) {
  out += "{\"name\":";
  append_json(out, column.name);
  out += fmt::format(",\"unit\":\"{}\",\"role\":\"{}\"}}", name_of(column.unit), name_of(column.role));
}

void put_row(std::string& out, const Table& table, std::size_t row) {
  out += '[';
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i != 0) out += ',';
    put_json_value(out, table.columns[i], row);
  }
  out += ']';
}

void put_table_head(std::string& out, const Table& table) {
  out += "\"title\":";
  append_json(out, table.title);
  out += fmt::format(",\"shape\":\"{}\",\"columns\":[", name_of(table.shape));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i != 0) out += ',';
    put_column(out, table.columns[i]);
  }
  out += "],\"rows\":[";
}

void put_rows(std::string& out, const Table& table, bool first) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    out += first && row == 0 ? "\n" : ",\n";
    put_row(out, table, row);
  }
}

void put_table(std::string& out, const Table& table) {
  put_table_head(out, table);
  put_rows(out, table, true);
  out += ']';
}

void put_report_head(std::string& out, std::string_view name) {
  out += "{\"report\":";
  append_json(out, name);
  out += ",\"tables\":[";
}

void put_report(std::string& out, const Report& report) {
  put_report_head(out, report.name);
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    if (i != 0) out += ",\n";
    out += '{';
    put_table(out, report.tables[i]);
    out += '}';
  }
  out += "],\"notes\":[";
  for (std::size_t i = 0; i < report.notes.size(); ++i) {
    if (i != 0) out += ',';
    append_json(out, report.notes[i]);
  }
  out += "]}";
}

}  // namespace

std::string to_json(const Report& report) {
  std::string out;
  put_report(out, report);
  out += '\n';
  return out;
}

std::string json_members(const Table& table) {
  std::string out;
  put_table(out, table);
  return out;
}

std::string to_json(std::span<const Report> reports) {
  std::string out = "{\"reports\":[";
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (i != 0) out += ",\n";
    put_report(out, reports[i]);
  }
  out += "]}\n";
  return out;
}

std::string json_head(std::string_view report, const Table& table) {
  std::string out;
  put_report_head(out, report);
  out += '{';
  put_table_head(out, table);
  return out;
}

std::string json_rows(const Table& table, bool first) {
  std::string out;
  put_rows(out, table, first);
  return out;
}

std::string json_tail() { return "]}],\"notes\":[]}\n"; }

}  // namespace stepscope::report
