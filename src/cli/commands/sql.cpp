#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "advise/analyses.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "report/sheet.h"
#include "report/suggest.h"
#include "write/sqlite.h"

namespace stepscope::cli {
namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether `query` contains `word`, also as the beginning of a longer name with an underscore, e.g.
/// steps_average_step.
bool mentions(std::string_view query, std::string_view word) {
  for (std::size_t at = query.find(word); at != std::string_view::npos; at = query.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !letter(query[at - 1])) &&
        (end == query.size() || !letter(query[end]) || query[end] == '_'))
      return true;
  }
  return false;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const write::TraceTable& table : write::trace_tables()) names.emplace_back(table.name);
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (answers_alone(analysis)) names.emplace_back(analysis.name);
  return names;
}

/// Creates only the tables that the query mentions.
std::optional<Error> fill(write::Database& database, const trace::Trace& trace, const std::string& query) {
  for (const write::TraceTable& table : write::trace_tables())
    if (mentions(query, table.name))
      if (auto error = database.add(table.name, trace)) return error;
  for (const analyze::Analysis& analysis : advise::all_analyses())
    if (answers_alone(analysis) && mentions(query, analysis.name))
      if (auto error = database.add(analyze::run(analysis, trace, {}))) return error;
  return std::nullopt;
}

/// Adds what exists, or how to list it, to "no such table" and "no such column".
std::string explained(const std::string& message) {
  constexpr std::string_view kNoTable = "no such table: ";
  const bool names_column = message.starts_with("no such column");
  if (!message.starts_with(kNoTable))
    return names_column ? message + ". `stepscope sql TRACE --tables` lists tables and columns." : message;
  const std::string wanted = message.substr(kNoTable.size());
  const std::vector<std::string> names = all_names();
  return fmt::format("there is no table '{}'.{} The tables are {}.", wanted,
                     report::did_you_mean(wanted, names), fmt::join(names, ", "));
}

write::AskLimits limits_of(const Call& call) {
  constexpr std::size_t kRowsUnasked = 1000;
  constexpr std::chrono::seconds kTime(60);
  return {
      .rows = call.params.has("top") ? static_cast<std::size_t>(call.params.integer("top")) : kRowsUnasked,
      .time = kTime};
}

/// A note when not all rows are shown.
std::vector<std::string> left_out(const write::Answer& answer) {
  if (answer.rows <= answer.table.rows() && answer.all_counted) return {};
  return {fmt::format("The first {} of {}{} rows are shown; --top N shows N, --top 0 all.",
                      answer.table.rows(), answer.all_counted ? "" : "more than ", answer.rows)};
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

report::Report tables_of(const trace::Trace& trace) {
  std::vector<ListedColumn> columns;
  for (const write::TraceTable& known : write::trace_tables())
    for (const write::ColumnNote& c : known.columns)
      columns.push_back(
          {std::string(known.name), std::string(c.name), lower(std::string(c.type)), std::string(c.meaning)});
  for (const analyze::Analysis& analysis : advise::all_analyses()) {
    if (!answers_alone(analysis)) continue;
    const report::Report made = analyze::run(analysis, trace, {});
    for (std::size_t i = 0; i < made.tables.size(); ++i)
      for (const report::Column& c : made.tables[i].columns)
        columns.push_back({write::table_name(made, i), c.name,
                           c.unit == report::Unit::none ? "" : std::string(name_of(c.unit)),
                           made.tables[i].title});
  }
  return {"tables", {tabulate(kColumnSheet, columns, true)}, {}};
}

}  // namespace

int run_sql(const Call& call) {
  std::vector<std::string> paths = call.words;
  const bool list = call.params.flag("tables");
  if (paths.empty() || (paths.size() < 2 && !list))
    return misuse(
        call, "sql needs a trace and a query, e.g. stepscope sql trace.json.gz 'SELECT count(*) FROM event'");
  std::string query;
  if (!list) {
    query = paths.back();
    paths.pop_back();
  }
  auto trace = open_trace(call, paths);
  if (!trace) return fail(trace.error());
  say_unread(*trace);
  if (list) {
    Call whole = call;
    if (!whole.params.has("top")) whole.params.set("top", "0");
    return print(whole, tables_of(*trace));
  }
  auto database = write::Database::in_memory();
  if (!database) return fail(database.error());
  Progress progress(shows_progress(call));
  database->on_progress([&] { progress.tell("querying SQLite"); });
  if (const auto error = fill(*database, *trace, lower(query))) return fail(*error);
  auto answer = database->ask(query, limits_of(call));
  if (!answer) return fail(Error{explained(answer.error().message), ""});
  report::Report report{"sql", {}, left_out(*answer)};
  report.tables.push_back(std::move(answer->table));
  return print(call, report);
}

}  // namespace stepscope::cli
