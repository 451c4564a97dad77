#include "compare/table_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

/// Of each column, the position of the one with its name in `among`; among.size() if there is none.
std::vector<std::size_t> positions(const std::vector<const Column*>& columns,
                                   const std::vector<const Column*>& among) {
  std::vector<std::size_t> out;
  for (const Column* column : columns)
    out.push_back(
        static_cast<std::size_t>(std::ranges::find(among, column->name, &Column::name) - among.begin()));
  return out;
}

/// A key whose lines "folder/file.py(7)" are "file.py" alone, and their numbers.
struct Unplaced {
  std::string key;
  std::vector<std::int64_t> lines;
};

Unplaced without_lines(std::string_view key) {
  constexpr std::string_view kLine = ".py(";
  Unplaced out;
  for (std::size_t at = key.find(kLine); at != std::string_view::npos; at = key.find(kLine)) {
    const std::string_view folder = key.substr(0, at);
    const std::size_t begin = folder.find_last_of("\n;") + 1, file = folder.find_last_of("\n;/\\") + 1;
    out.key += std::string(key.substr(0, begin)) += key.substr(file, at + kLine.size() - file);
    key.remove_prefix(at + kLine.size());
    std::int64_t line = 0;
    const auto [end, failed] = std::from_chars(key.data(), key.data() + key.size(), line);
    if (failed != std::errc{}) continue;
    out.lines.push_back(line);
    key.remove_prefix(static_cast<std::size_t>(end - key.data()));
  }
  out.key += key;
  return out;
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

/// Rows of both sides with equal keys, and rows that one side has alone.
std::vector<std::pair<Side, Side>> pairs_of(const TableSamples& a, const TableSamples& b) {
  struct Alone {
    std::map<std::vector<std::int64_t>, Side> a, b;  ///< by the numbers of their lines
  };
  std::vector<std::pair<Side, Side>> pairs;
  std::map<std::string, Alone> alone;
  const auto keep = [&](const std::string& key, Side row, auto of_side) {
    Unplaced unplaced = without_lines(key);
    if (unplaced.lines.empty() || !(alone[unplaced.key].*of_side).emplace(unplaced.lines, row).second)
      pairs.emplace_back(of_side == &Alone::a ? row : nullptr, of_side == &Alone::a ? nullptr : row);
  };
  for (const auto& [key, row] : a.rows()) {
    const auto found = b.rows().find(key);
    if (found != b.rows().end())
      pairs.emplace_back(&row, &found->second);
    else
      keep(key, &row, &Alone::a);
  }
  for (const auto& [key, row] : b.rows())
    if (!a.rows().contains(key)) keep(key, &row, &Alone::b);
  for (auto& [key, rows] : alone) {
    const bool as_many = rows.a.size() == rows.b.size();
    for (const auto& [lines, row] : rows.a) {
      const auto of_b = as_many ? rows.b.begin() : rows.b.find(lines);
      pairs.emplace_back(row, of_b == rows.b.end() ? nullptr : of_b->second);
      if (of_b != rows.b.end()) rows.b.erase(of_b);
    }
    for (const auto& [lines, row] : rows.b) pairs.emplace_back(nullptr, row);
  }
  return pairs;
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

void add_number(Table& out, const Column& column, const std::vector<Joined>& rows, std::size_t at_a,
                std::size_t at_b, bool is_first) {
  const auto of_a = [&](const Joined& row) { return mean_of_side(row.a, at_a); };
  const auto of_b = [&](const Joined& row) { return mean_of_side(row.b, at_b); };
  add_column(out, column, "_a", is_first ? Role::value : Role::detail, rows, of_a);
  add_column(out, column, "_b", is_first ? Role::value : Role::detail, rows, of_b);
  add_column(out, column, "_change", is_first ? Role::change : Role::detail, rows,
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

bool alike(const Table& a, const Table& b) {
  const auto keys_of = [](const Table& table) {
    std::vector<std::string> keys;
    for (const Column& column : table.columns)
      if (is_key(column)) keys.push_back(column.name);
    return keys;
  };
  const auto numbers_a = compared_columns(a), numbers_b = compared_columns(b);
  return a.title == b.title && keys_of(a) == keys_of(b) && !numbers_a.empty() && !numbers_b.empty() &&
         numbers_a[0]->name == numbers_b[0]->name;
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
  const std::vector<const Column*> numbers = compared_columns(table), kept = compared_columns(shape_);
  const std::vector<std::size_t> at = positions(numbers, kept);
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
    into.values.resize(kept.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (at[i] < kept.size() && !numbers[i]->missing(row))
        into.values[at[i]].push_back(report::number_at(*numbers[i], row));
  }
}

Table difference(const TableSamples& a, const TableSamples& b, std::size_t steps_a, std::size_t steps_b,
                 double step) {
  const bool only_b = a.shape().columns.empty(), only_a = b.shape().columns.empty();
  const Table& shape = only_b ? b.shape() : a.shape();
  Table out{shape.title, report::Shape::table, {}};
  const std::vector<const Column*> its_own = compared_columns(shape),
                                   of_other = compared_columns(only_a ? a.shape() : b.shape());
  std::vector<const Column*> numbers;
  for (const Column* column : its_own)
    if (std::ranges::count(of_other, column->name, &Column::name) > 0) numbers.push_back(column);
  const std::vector<std::size_t> at_a = positions(numbers, its_own), at_b = positions(numbers, of_other);
  std::vector<Joined> rows;
  const auto join = [&](Side of_a, Side of_b) {
    Joined row{
        of_a, of_b,
        row_change(values_of(of_a, at_a[0]), values_of(of_b, at_b[0]), step, numbers[0]->unit == Unit::ns)};
    row.first.state = state_of(of_a, of_b, row.first);
    const bool rare =
        (of_a != nullptr && values_of(of_a, at_a[0]).size() < std::min<std::size_t>(3, steps_a)) ||
        (of_b != nullptr && values_of(of_b, at_b[0]).size() < std::min<std::size_t>(3, steps_b));
    if (rare && row.first.state == State::changed) row.first.state = State::unknown_noise;
    rows.push_back(row);
  };
  for (const auto& [of_a, of_b] : pairs_of(a, b)) join(of_a, of_b);
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
    add_number(out, *numbers[i], rows, at_a[i], at_b[i], i == 0);
    if (i > 0) continue;
    report::Texts& state = out.texts("state", Role::value);
    for (const Joined& row : rows) state.emplace_back(name_of(row.first.state));
  }
  return out;
}

}  // namespace stepscope::compare
