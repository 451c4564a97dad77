#include "report/text/notable.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/median.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

constexpr std::size_t kNotableRanks = 12;  // shown of too many
constexpr double kLeastSpread = 0.001;     // of the largest number with that unit

bool measures(const Column& column) { return !is_text(column) && column.role != Role::key; }

double largest_with(const Table& table, Unit unit) {
  double largest = 0;
  for (const Column& column : table.columns)
    for (std::size_t row = 0; measures(column) && column.unit == unit && row < column.size(); ++row)
      if (!column.missing(row)) largest = std::max(largest, std::abs(number_at(column, row)));
  return largest;
}

/// Raises each row's distance to that of its number in `column`. `least`: the least spread.
void add_distances(std::vector<double>& distances, const Column& column, double least) {
  std::vector<double> numbers;
  for (std::size_t row = 0; row < column.size(); ++row)
    if (!column.missing(row)) numbers.push_back(number_at(column, row));
  const double median = median_of(numbers);
  for (double& number : numbers) number = std::abs(number - median);
  const double spread = std::max(kOfNormal * median_of(numbers), least);
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (column.missing(row)) continue;
    const double apart = std::abs(number_at(column, row) - median);
    if (apart > 0) distances[row] = std::max(distances[row], apart / spread);
  }
}

}  // namespace

bool is_by_rank(const Table& table) {
  const auto is_key = [](const Column& column) { return column.role == Role::key; };
  return std::count_if(table.columns.begin(), table.columns.end(), is_key) == 1 &&
         std::find_if(table.columns.begin(), table.columns.end(), is_key)->tag == Tag::rank;
}

std::vector<std::size_t> notable_rows(const Table& table, std::size_t count) {
  std::vector<double> distances(table.rows());
  for (const Column& column : table.columns)
    if (measures(column)) add_distances(distances, column, kLeastSpread * largest_with(table, column.unit));
  std::vector<std::size_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return distances[a] > distances[b]; });
  rows.resize(std::min(count, rows.size()));
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::size_t> printed_rows(const Table& table, std::size_t most) {
  const bool fits = most == 0 || table.rows() <= most;
  if (!fits && is_by_rank(table)) return notable_rows(table, std::min(most, kNotableRanks));
  std::vector<std::size_t> rows(fits ? table.rows() : most);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace stepscope::report
