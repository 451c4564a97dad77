#include "report/table.h"

#include <algorithm>
#include <numeric>

namespace stepscope::report {

std::string_view name_of(Unit unit) {
  constexpr std::string_view kNames[] = {"",     "count",      "ns",          "bytes",        "share",
                                         "flop", "flop_per_s", "bytes_per_s", "flop_per_byte"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"key", "value", "share", "depth", "detail", "change"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string_view name_of(Shape shape) {
  constexpr std::string_view kNames[] = {"table", "bars", "curve", "tree", "flame", "matrix", "timeline"};
  return kNames[static_cast<std::size_t>(shape)];
}

namespace {

bool row_before(const Column& column, std::size_t a, std::size_t b) {
  const bool a_missing = column.missing(a), b_missing = column.missing(b);
  if (a_missing || b_missing) return b_missing && !a_missing;
  if (const auto* ints = std::get_if<Ints>(&column.values)) return (*ints)[a] > (*ints)[b];
  if (const auto* reals = std::get_if<Reals>(&column.values)) return (*reals)[a] > (*reals)[b];
  const auto& texts = std::get<Texts>(column.values);
  return texts[a] < texts[b];
}

}  // namespace

bool sort_and_cut(Table& table, std::string_view name, std::size_t top) {
  const Column* column = table.column(name);
  if (column == nullptr) return false;
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return row_before(*column, a, b); });
  if (top != 0 && top < order.size()) order.resize(top);
  for (Column& c : table.columns) {
    std::visit(
        [&](auto& values) {
          std::decay_t<decltype(values)> sorted;
          sorted.reserve(order.size());
          for (std::size_t row : order) sorted.push_back(std::move(values[row]));
          values = std::move(sorted);
        },
        c.values);
  }
  return true;
}

void cut(Table& table, std::size_t top) {
  if (top == 0 || top >= table.rows()) return;
  for (Column& c : table.columns) std::visit([&](auto& values) { values.resize(top); }, c.values);
}

}  // namespace stepscope::report
