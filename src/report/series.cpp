#include "report/series.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "report/text/layout.h"
#include "report/units.h"

namespace stepscope::report {
namespace {

const Column* x_of(const Table& table) {
  const Column* found = nullptr;
  for (const Column& c : table.columns)
    if (c.role == Role::key && !is_text(c) &&
        (found == nullptr || found->unit != Unit::ns || c.unit == Unit::ns))
      found = &c;
  return found;
}

std::string group_of(const Table& table, const Column* x, std::size_t row) {
  std::string group;
  for (const Column& c : table.columns) {
    if (c.role != Role::key || &c == x || c.missing(row)) continue;
    group += (group.empty() ? "" : " · ") + (is_text(c) ? "" : c.name + " ") + format_value(c, row);
  }
  return group;
}

void sort_by_x(Series& series) {
  if (std::is_sorted(series.x.begin(), series.x.end())) return;
  std::vector<std::size_t> order(series.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return series.x[a] < series.x[b]; });
  std::vector<double> x, y;
  for (const std::size_t i : order) {
    x.push_back(series.x[i]);
    y.push_back(series.y[i]);
  }
  series.x = std::move(x);
  series.y = std::move(y);
}

}  // namespace

Curves curves_of(const Table& table, std::size_t most) {
  Curves curves;
  curves.x = x_of(table);
  if (curves.x == nullptr) return curves;
  std::map<std::string, std::vector<std::size_t>> groups;
  std::vector<std::string> order;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (curves.x->missing(row)) continue;
    const auto [at, is_new] = groups.try_emplace(group_of(table, curves.x, row));
    if (is_new) order.push_back(at->first);
    at->second.push_back(row);
  }
  for (const std::string& group : order) {
    for (const Column& c : table.columns) {
      if ((c.role != Role::value && c.role != Role::share) || is_text(c)) continue;
      if (curves.series.size() >= most) {
        ++curves.left_out;
        continue;
      }
      Series series{c.name + (group.empty() ? "" : " · " + group), c.unit, {}, {}};
      for (const std::size_t row : groups[group]) {
        if (c.missing(row)) continue;
        series.x.push_back(number_at(*curves.x, row));
        series.y.push_back(number_at(c, row));
      }
      sort_by_x(series);
      if (!series.x.empty()) curves.series.push_back(std::move(series));
    }
  }
  return curves;
}

Extent extent_of(const std::vector<double>& values, bool with_zero) {
  if (values.empty()) return {0, 1};
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Extent extent{*low, *high};
  if (with_zero && extent.low > 0) extent.low = 0;
  if (with_zero && extent.high < 0) extent.high = 0;
  if (!(extent.low < extent.high)) extent.high = extent.low + 1;
  return extent;
}

double place_in(Extent extent, double value) {
  const double place = (value - extent.low) / (extent.high - extent.low);
  return place > 0 ? std::min(place, 1.0) : 0.0;  // NaN, if the extent overflows, becomes 0 too
}

std::string format_x(const Column& x, double value) {
  const bool whole = std::holds_alternative<Ints>(x.values) && std::abs(value) < 0x1p62;
  return whole ? format_value(static_cast<std::int64_t>(value), x.unit) : format_value(value, x.unit);
}

std::vector<Span> spans_of(const Series& series, Extent x, int columns) {
  std::vector<Span> spans(static_cast<std::size_t>(std::max(columns, 1)));
  const auto column_of = [&](double at) {
    return static_cast<std::size_t>(std::lround(place_in(x, at) * static_cast<double>(spans.size() - 1)));
  };
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const std::size_t from = column_of(series.x[i]);
    const std::size_t to = i + 1 < series.x.size() ? column_of(series.x[i + 1]) : from;
    for (std::size_t column = from; column <= to; ++column) {
      spans[column].low = std::min(spans[column].low, series.y[i]);
      spans[column].high = std::max(spans[column].high, series.y[i]);
    }
  }
  return spans;
}

}  // namespace stepscope::report
