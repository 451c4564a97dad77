#include "compare/table_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/units.h"

namespace stepscope::compare {
namespace {

using report::Column;
using report::Role;
using report::Table;
using report::Unit;

constexpr std::size_t kMaxCompared = 9;  // columns of a table; each becomes up to four

bool is_key(const Column& column) { return column.role == Role::key; }

const Column* depth_of(const Table& table) {
  for (const Column& column : table.columns)
    if (column.role == Role::depth && !is_text(column)) return &column;
  return nullptr;
}

std::string key_text(const Column& column, std::size_t row) {
  if (is_text(column)) return std::get<report::Texts>(column.values)[row];
  const double number = report::number_at(column, row);
  return number == std::trunc(number) ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

/// A row on one side; nullptr: it is not there.
using Side = const TableSamples::Row*;

struct Joined {
  Side a, b;
  RowChange first;
};

const std::vector<double>& values_of(Side side, std::size_t column) {
  static const std::vector<double> kNone;
  return side == nullptr || column >= side->values.size() ? kNone : side->values[column];
}

State state_of(Side a, Side b, const RowChange& verdict) {
  if (a == nullptr) return State::appeared;
  return b == nullptr ? State::gone : verdict.state;
}

/// The mean of a side's samples; kNoReal if there are none.
double mean_of_side(Side side, std::size_t column) {
  const std::vector<double>& values = values_of(side, column);
  return values.empty() ? report::kNoReal : mean_of(values);
}

/// Adds a column named `column` + `ending`; `cell` computes its cells.
void add_column(Table& out, const Column& column, const char* ending, Role role,
                const std::vector<Joined>& rows, auto cell) {
  report::Reals& values = out.reals(column.name + ending, column.unit, role);
  for (const Joined& row : rows) values.push_back(cell(row));
}

void add_number(Table& out, const Column& column, const std::vector<Joined>& rows, std::size_t at) {
  const auto of_a = [&](const Joined& row) { return mean_of_side(row.a, at); };
  const auto of_b = [&](const Joined& row) { return mean_of_side(row.b, at); };
  add_column(out, column, "_a", at == 0 ? Role::value : Role::detail, rows, of_a);
  add_column(out, column, "_b", at == 0 ? Role::value : Role::detail, rows, of_b);
  add_column(out, column, "_change", at == 0 ? Role::change : Role::detail, rows,
             [&](const Joined& row) { return of_b(row) - of_a(row); });
}

}  // namespace

bool joins(const Table& table) {
  if (table.shape == report::Shape::curve || table.shape == report::Shape::timeline) return false;
  bool keyed = false;
  for (const Column& column : table.columns) {
    if (!is_key(column)) continue;
    if (column.tag == report::Tag::of_one_run) return false;
    keyed = true;
  }
  return keyed && !compared_columns(table).empty();
}

std::vector<const Column*> compared_columns(const Table& table) {
  std::vector<const Column*> out;
  for (const Column& column : table.columns)
    if ((column.role == Role::value || column.role == Role::share) && !is_text(column) &&
        out.size() < kMaxCompared)
      out.push_back(&column);
  const auto time = std::find_if(out.begin(), out.end(), [](const Column* c) { return c->unit == Unit::ns; });
  if (time != out.end()) std::rotate(out.begin(), time, time + 1);
  return out;
}

void TableSamples::add(const Table& table) {
  if (shape_.columns.empty()) {
    shape_ = table;
    report::cut(shape_, 1);
  }
  const std::vector<const Column*> numbers = compared_columns(table);
  const Column* depth = depth_of(table);
  std::vector<std::string> path;
  std::map<std::string, std::size_t> seen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    Row found;
    std::string key;
    for (const Column& column : table.columns) {
      if (!is_key(column)) continue;
      found.keys.push_back(key_text(column, row));
      key += found.keys.back() + '\n';
    }
    if (depth != nullptr) {
      found.depth = std::clamp<std::int64_t>(static_cast<std::int64_t>(report::number_at(*depth, row)), 0,
                                             static_cast<std::int64_t>(path.size()));
      path.resize(static_cast<std::size_t>(found.depth));
      path.push_back(path.empty() ? key : path.back() + key);
      key = path.back();
    }
    const std::size_t again = seen[key]++;  // rows with equal keys are numbered in order
    if (again > 0) key += std::to_string(again);
    Row& into = rows_.try_emplace(std::move(key), std::move(found)).first->second;
    into.values.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!numbers[i]->missing(row)) into.values[i].push_back(report::number_at(*numbers[i], row));
  }
}

Table difference(const TableSamples& a, const TableSamples& b, std::size_t steps_a, std::size_t steps_b,
                 double step) {
  const Table& shape = a.shape().columns.empty() ? b.shape() : a.shape();
  Table out{shape.title, report::Shape::table, {}};
  const std::vector<const Column*> numbers = compared_columns(shape);
  std::vector<Joined> rows;
  const auto join = [&](Side of_a, Side of_b) {
    Joined row{of_a, of_b,
               row_change(values_of(of_a, 0), values_of(of_b, 0), step, numbers[0]->unit == Unit::ns)};
    row.first.state = state_of(of_a, of_b, row.first);
    const bool rare = (of_a != nullptr && values_of(of_a, 0).size() < std::min<std::size_t>(3, steps_a)) ||
                      (of_b != nullptr && values_of(of_b, 0).size() < std::min<std::size_t>(3, steps_b));
    if (rare && row.first.state == State::changed) row.first.state = State::unknown_noise;
    rows.push_back(row);
  };
  for (const auto& [key, row] : a.rows()) {
    const auto found = b.rows().find(key);
    join(&row, found == b.rows().end() ? nullptr : &found->second);
  }
  for (const auto& [key, row] : b.rows())
    if (a.rows().find(key) == a.rows().end()) join(nullptr, &row);
  std::stable_sort(rows.begin(), rows.end(), [](const Joined& x, const Joined& y) {
    return std::abs(x.first.b - x.first.a) > std::abs(y.first.b - y.first.a);
  });
  std::size_t key = 0;
  for (const Column& column : shape.columns) {
    if (!is_key(column)) continue;
    report::Texts& texts = out.texts(column.name);
    for (const Joined& row : rows) texts.push_back((row.a != nullptr ? row.a : row.b)->keys[key]);
    ++key;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    add_number(out, *numbers[i], rows, i);
    if (i > 0) continue;
    report::Texts& state = out.texts("state", Role::value);
    for (const Joined& row : rows) state.emplace_back(name_of(row.first.state));
  }
  return out;
}

}  // namespace stepscope::compare
