// `stepscope diff A B`: what changed from one recording to the other.
#include "compare/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/compared.h"
#include "cli/exit.h"
#include "cli/present.h"
#include "report/units.h"

namespace stepscope::cli {
namespace {

constexpr std::size_t kRowsOfText = 8;

/// The last name of a path; of autograd's functions without the engine's own words.
std::string last_name(const std::string& path) {
  constexpr std::string_view kArrow = " › ", kEngine = "autograd::engine::evaluate_function: ";
  const std::size_t arrow = path.rfind(kArrow);
  std::string name = arrow == std::string::npos ? path : path.substr(arrow + kArrow.size());
  return name.starts_with(kEngine) ? name.substr(kEngine.size()) : name;
}

/// The rows that changed by more than noise, places by their last names; what the others add up to.
std::string shorten_rows(report::Table& table) {
  const auto& states = std::get<report::Texts>(table.column("state")->values);
  std::vector<bool> kept;
  for (const std::string& state : states) kept.push_back(state != "within noise");
  const auto& changes = std::get<report::Reals>(table.column("change")->values);
  double rest = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) rest += kept[row] ? 0 : changes[row];
  const auto noise = std::count(kept.begin(), kept.end(), false);
  for (report::Column& column : table.columns) {
    if (column.name == "op" || column.name == "module")
      for (std::string& text : std::get<report::Texts>(column.values)) text = last_name(text);
    std::visit(
        [&](auto& values) {
          std::size_t row = 0;
          std::erase_if(values, [&](const auto&) { return !kept[row++]; });
        },
        column.values);
  }
  const std::string sum = report::format_value(rest, report::Unit::ns);
  return fmt::format("{} more rows differ by no more than noise; together they change by {}{} a step.", noise,
                     rest > 0 ? "+" : "", sum);
}

/// What fits one screen: the verdict, the parts and the largest changes.
report::Report for_people(report::Report report, const report::Params& params) {
  const auto rows = params.has("top") ? static_cast<std::size_t>(params.integer("top")) : kRowsOfText;
  std::erase_if(report.tables, [](const report::Table& t) {
    return t.title.starts_with("By ") || t.title.starts_with("How ");
  });
  for (report::Table& table : report.tables) {
    if (!table.title.starts_with("What ")) continue;
    std::string rest = shorten_rows(table);
    if (rows != 0 && table.rows() > rows)
      rest = fmt::format("{} more rows changed; --top 0 shows all. ", table.rows() - rows) + rest;
    report.notes.insert(report.notes.begin(), std::move(rest));
    report::cut(table, rows);
  }
  for (report::Table& table : report.tables)
    std::erase_if(table.columns, [&](const report::Column& column) {
      return column.role == report::Role::detail ||
             (table.title.starts_with("What ") && column.name == "relative");
    });
  return report;
}

}  // namespace

int run_diff(const Call& call) {
  if (call.words.size() != 2)
    return misuse(call, fmt::format("diff needs two recordings, A and B, not {}; a directory is one",
                                    call.words.size()));
  auto sides = open_sides(call, {call.words[0]}, {call.words[1]});
  if (!sides) return fail(sides.error());
  const report::Report report = compare::diff(sides->a.front(), sides->b.front(), call.params);
  return print(call, format_of(call) == "text" ? for_people(report, call.params) : report);
}

}  // namespace stepscope::cli
