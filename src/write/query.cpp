#include "write/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/sheet.h"
#include "report/suggest.h"

namespace stepscope::write {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether `query` contains `word`, also as the beginning of a longer name with an underscore, e.g.
/// steps_average_step.
bool mentions(std::string_view query, std::string_view word) {
  for (std::size_t at = query.find(word); at != std::string_view::npos; at = query.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(query[at - 1])) &&
        (end == query.size() || !is_letter(query[end]) || query[end] == '_'))
      return true;
  }
  return false;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// Creates only the tables that the query mentions.
std::optional<Error> fill(Database& database, const trace::Trace& trace,
                          std::span<const QueriedReport> reports, std::string query) {
  for (const TraceTable& table : trace_tables())
    if (!table.view.empty() && mentions(query, table.name)) query += " " + lower(std::string(table.view));
  for (const TraceTable& table : trace_tables())
    if (mentions(query, table.name))
      if (auto error = database.add(table.name, trace)) return error;
  for (const QueriedReport& report : reports)
    if (mentions(query, report.name))
      if (auto error = database.add(report.make())) return error;
  return std::nullopt;
}

/// Adds what exists, or how to list it, to "no such table" and "no such column".
std::string explained(const std::string& message, std::span<const QueriedReport> reports,
                      std::string_view how_to_list) {
  constexpr std::string_view kNoTable = "no such table: ";
  if (message.starts_with("no such column"))
    return fmt::format("{}. {} lists tables and columns.", message, how_to_list);
  if (!message.starts_with(kNoTable)) return message;
  const std::string wanted = message.substr(kNoTable.size());
  std::vector<std::string> names;
  for (const TraceTable& table : trace_tables()) names.emplace_back(table.name);
  for (const QueriedReport& report : reports) names.emplace_back(report.name);
  return fmt::format("there is no table '{}'.{} The tables are {}.", wanted,
                     report::did_you_mean(wanted, names), fmt::join(names, ", "));
}

struct ListedColumn {
  std::string table, column, type, meaning;
};

const report::Sheet<ListedColumn> kColumnSheet{"Tables",
                                               report::Shape::table,
                                               {{"table", &ListedColumn::table},
                                                {"column", &ListedColumn::column},
                                                {"type", &ListedColumn::type, report::Role::value},
                                                {"meaning", &ListedColumn::meaning, report::Role::value}}};

}  // namespace

Result<std::vector<Answer>> query(const trace::Trace& trace, std::span<const QueriedReport> reports,
                                  const std::string& queries, const QueryOptions& options) {
  auto database = Database::in_memory();
  if (!database) return database.error();
  database->on_progress(options.progress);
  if (const auto error = fill(*database, trace, reports, lower(queries))) return *error;
  auto answers = database->ask(queries, options.limits);
  if (!answers) return Error{explained(answers.error().message, reports, options.how_to_list), ""};
  return answers;
}

report::Report queried_tables(std::span<const QueriedReport> reports) {
  std::vector<ListedColumn> columns;
  for (const TraceTable& known : trace_tables())
    for (const ColumnNote& c : known.columns)
      columns.push_back(
          {std::string(known.name), std::string(c.name), lower(std::string(c.type)), std::string(c.meaning)});
  for (const QueriedReport& report : reports) {
    const report::Report made = report.make();
    for (std::size_t i = 0; i < made.tables.size(); ++i)
      for (const report::Column& c : made.tables[i].columns)
        columns.push_back({table_name(made, i), c.name,
                           c.unit == report::Unit::none ? "" : std::string(name_of(c.unit)),
                           made.tables[i].title});
  }
  return {"tables", {tabulate(kColumnSheet, columns, true)}, {}};
}

std::optional<Error> export_sqlite(const trace::Trace& trace, std::span<const QueriedReport> reports,
                                   const std::string& path, bool reports_only,
                                   const std::function<void()>& progress) {
  auto database = Database::create(path);
  if (!database) return database.error();
  database->on_progress(progress);
  if (!reports_only)
    for (const TraceTable& table : trace_tables())
      if (auto error = database->add(table.name, trace)) return error;
  for (const QueriedReport& report : reports)
    if (auto error = database->add(report.make())) return error;
  return database->finish();
}

}  // namespace stepscope::write
