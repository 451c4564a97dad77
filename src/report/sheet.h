// A table declared once, a line per column: its name, its source in a row of the answer, its unit and its
// role. Answers are structs of plain values; a Sheet is how they print.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "report/table.h"

namespace stepscope::report {

/// One column of a table whose rows are `Row`s. A member or a function returns the cell: integers, reals or
/// texts. Texts are keys by default.
template <class Row>
struct Field {
  using Int = std::int64_t (*)(const Row&);
  using Real = double (*)(const Row&);
  using Text = std::string (*)(const Row&);
  using Cell = std::variant<std::int64_t Row::*, std::int32_t Row::*, double Row::*, std::string Row::*,
                            std::string_view Row::*, Int, Real, Text>;

  std::string_view name;
  Cell cell;
  Unit unit = Unit::none;
  Use use;
  bool of_several = false;  ///< the column exists only if the job has several ranks

  template <class Given>
    requires std::constructible_from<Cell, Given>
  constexpr Field(std::string_view column, Given given, Unit its_unit, Use its_use = Role::value)
      : name(column), cell(given), unit(its_unit), use(its_use) {}
  template <class Given>
    requires std::constructible_from<Cell, Given>
  constexpr Field(std::string_view column, Given given, Use its_use = Role::key)
      : name(column), cell(given), use(its_use) {}
};

/// The key column "rank", which exists only if the job has several ranks.
template <class Row, class Base>
constexpr Field<Row> rank_field(std::int64_t Base::* member) {
  Field<Row> field("rank", static_cast<std::int64_t Row::*>(member), Unit::none, Tag::rank);
  field.of_several = true;
  return field;
}

/// The text of a member that is an enum: its name, from the name_of() beside its type.
template <auto member>
struct Named;
template <class Row, class Value, Value Row::* member>
struct Named<member> {
  static std::string text(const Row& row) { return std::string(name_of(row.*member)); }
};
template <auto member>
inline constexpr auto named = &Named<member>::text;

template <class Row>
struct Sheet {
  std::string_view title;
  Shape shape = Shape::table;
  std::vector<Field<Row>> fields;
};

namespace sheet {

template <class Row, class Value, class Get>
void fill(std::vector<Value>& out, const std::vector<Row>& rows, Get get) {
  out.reserve(rows.size());
  for (const Row& row : rows) out.emplace_back(get(row));
}

template <class Row>
void add_column(Table& table, const Field<Row>& field, const std::vector<Row>& rows) {
  std::visit(
      [&](auto cell) {
        using Value = std::decay_t<std::invoke_result_t<decltype(cell), const Row&>>;
        const auto get = [cell](const Row& row) { return std::invoke(cell, row); };
        if constexpr (std::integral<Value>)
          fill(table.ints(std::string(field.name), field.unit, field.use), rows, get);
        else if constexpr (std::floating_point<Value>)
          fill(table.reals(std::string(field.name), field.unit, field.use), rows, get);
        else
          fill(table.texts(std::string(field.name), field.use), rows, get);
      },
      field.cell);
}

}  // namespace sheet

/// `rows` as a table. `title` replaces that of `sheet` unless it is "".
template <class Row>
Table tabulate(const Sheet<Row>& sheet, const std::vector<Row>& rows, bool several_ranks,
               std::string title = "") {
  Table table{title.empty() ? std::string(sheet.title) : std::move(title), sheet.shape, {}};
  for (const Field<Row>& field : sheet.fields)
    if (!field.of_several || several_ranks) sheet::add_column(table, field, rows);
  return table;
}

/// A number of an answer that gets a row of its own: its name and its member.
template <class Answer>
struct Fact {
  std::string_view name;
  std::int64_t Answer::* member;
  bool only_if_known = false;  ///< no row if it is kNoInt
};

/// Facts of each rank, one row per fact. `Answer` has a member `rank`.
template <class Answer>
struct FactSheet {
  std::string_view title, column;
  Unit unit;
  std::vector<Fact<Answer>> facts;

  /// The name of a fact; "" when it is none of these.
  std::string_view name_of(std::int64_t Answer::* member) const {
    for (const Fact<Answer>& fact : facts)
      if (fact.member == member) return fact.name;
    return "";
  }
};

template <class Answer>
Table tabulate(const FactSheet<Answer>& sheet, const std::vector<Answer>& answers, bool several_ranks) {
  struct Row {
    std::int64_t rank, value;
    std::string_view fact;
  };
  std::vector<Row> rows;
  for (const Answer& answer : answers)
    for (const Fact<Answer>& fact : sheet.facts)
      if (!fact.only_if_known || answer.*fact.member != kNoInt)
        rows.push_back({answer.rank, answer.*fact.member, fact.name});
  const Sheet<Row> printed{
      sheet.title,
      Shape::table,
      {rank_field<Row>(&Row::rank), {"fact", &Row::fact}, {sheet.column, &Row::value, sheet.unit}}};
  return tabulate(printed, rows, several_ranks);
}

}  // namespace stepscope::report
