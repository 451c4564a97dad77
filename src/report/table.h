// The output of an analysis. A Report is tables plus notes; a Table is named, typed columns with units and a
// shape that tells how a person should see it. Reports own all their data and never point back into a Trace.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"

namespace stepscope::report {

/// Unit of a column's raw values. Printers scale them for people; JSON and CSV never do.
enum class Unit : std::uint8_t {
  none,           ///< plain text or a plain number
  count,          ///< how many
  ns,             ///< nanoseconds: int64, or real for means and deviations
  bytes,          ///< bytes, int64
  share,          ///< 0 … 1 of a stated whole, shown as a percentage
  flop,           ///< floating-point operations; one multiply-add is 2
  flop_per_s,     ///< FLOP/s, decimal
  bytes_per_s,    ///< bytes/s, decimal
  flop_per_byte,  ///< arithmetic intensity
};

/// What a column is for. Rows of two reports are joined by their key columns.
enum class Role : std::uint8_t {
  key,     ///< identifies the row
  value,   ///< measured
  share,   ///< part of a whole, unit `share`
  depth,   ///< pre-order depth of a tree row, 0 for roots
  detail,  ///< extra text or numbers, hidden first when a terminal is narrow
  change,  ///< a difference: printed with its sign, growth and decline in two colours
};

/// What a column means to code that draws or compares tables of any analysis. Not printed.
enum class Tag : std::uint8_t {
  none,
  rank,        ///< key: a rank
  of_one_run,  ///< key: an event, a step or a time, meaningless in another recording
  part,        ///< value: a part of the row's whole
  whole,       ///< value: what the parts of a row add up to
};

/// A role, or a tag and the role that comes with it.
struct Use {
  Role role;
  Tag tag = Tag::none;
  constexpr Use(Role its_role) : role(its_role) {}
  constexpr Use(Tag its_tag)
      : role(its_tag == Tag::rank || its_tag == Tag::of_one_run ? Role::key : Role::value), tag(its_tag) {}
};

/// How a person should see the table. Views exist per shape, not per analysis.
enum class Shape : std::uint8_t { table, bars, curve, tree, flame, matrix, timeline };

/// Absent values: a number that cannot be computed is empty, never 0. Printed as nothing, in JSON as null.
inline constexpr std::int64_t kNoInt = std::numeric_limits<std::int64_t>::min();
inline constexpr double kNoReal = std::numeric_limits<double>::quiet_NaN();

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;
using Texts = std::vector<std::string>;

struct Column {
  std::string name;  ///< snake_case, stable: part of the JSON contract
  Unit unit = Unit::none;
  Role role = Role::value;
  std::variant<Ints, Reals, Texts> values;
  Tag tag = Tag::none;

  std::size_t size() const {
    return std::visit([](const auto& v) { return v.size(); }, values);
  }
  bool missing(std::size_t row) const {
    if (const auto* ints = std::get_if<Ints>(&values)) return (*ints)[row] == kNoInt;
    if (const auto* reals = std::get_if<Reals>(&values)) return !std::isfinite((*reals)[row]);
    return std::get<Texts>(values)[row].empty();
  }
};

inline bool is_text(const Column& column) { return std::holds_alternative<Texts>(column.values); }

struct Table {
  std::string title;
  Shape shape = Shape::table;
  std::vector<Column> columns;
  bool divides_step = false;  ///< its rows are the parts of the mean step

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }

  Ints& ints(std::string name, Unit unit, Use use = Role::value) {
    return add<Ints>(std::move(name), unit, use);
  }
  Reals& reals(std::string name, Unit unit, Use use = Role::value) {
    return add<Reals>(std::move(name), unit, use);
  }
  Texts& texts(std::string name, Use use = Role::key) { return add<Texts>(std::move(name), Unit::none, use); }
  /// The column of that name, or nullptr.
  const Column* column(std::string_view name) const {
    for (const Column& c : columns)
      if (c.name == name) return &c;
    return nullptr;
  }

 private:
  // Column storage must not move while a builder holds references, hence the reserve and the check.
  template <class Values>
  Values& add(std::string name, Unit unit, Use use) {
    constexpr std::size_t kMaxColumns = 48;
    columns.reserve(kMaxColumns);
    CHECK(columns.size() < kMaxColumns);
    columns.push_back({std::move(name), unit, use.role, Values{}, use.tag});
    return std::get<Values>(columns.back().values);
  }
};

struct Report {
  std::string name;  ///< the analysis that made it, e.g. "steps"
  std::vector<Table> tables;
  std::vector<std::string> notes;  ///< sentences a reader must see: what is missing, partial or estimated
  std::string question = {};       ///< for a heading; "" if the name is enough
};

/// The machine-readable names used in JSON, e.g. "ns", "share", "key", "curve".
std::string_view name_of(Unit unit);
std::string_view name_of(Role role);
std::string_view name_of(Shape shape);

/// Sorts the rows of `table` by `column` (numbers descending, texts ascending; ties keep their order; empty
/// values last) and keeps the first `top` rows (0 keeps all). Returns false if there is no such column.
bool sort_and_cut(Table& table, std::string_view column, std::size_t top);

/// Keeps rows 0 … top-1 (0 keeps all).
void cut(Table& table, std::size_t top);

}  // namespace stepscope::report
