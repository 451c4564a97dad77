#include "analyze/named_durations.h"

#include <algorithm>

#include "analyze/describe.h"

namespace stepscope::analyze {
namespace {

NamedDurations row_of(std::string name, const std::vector<double>& durations) {
  const Description d = described(durations);
  NamedDurations row{std::move(name), 0, d.most, d.least, d.mean, d.count > 1 ? d.deviation : 0, d.count};
  for (const double duration : durations) row.sum += duration;
  return row;
}

}  // namespace

std::vector<NamedDurations> DurationsByName::rows() const {
  std::vector<NamedDurations> rows;
  for (const auto& [name, durations] : of_) rows.push_back(row_of(std::string(strings_[name]), durations));
  std::sort(rows.begin(), rows.end(), [](const NamedDurations& a, const NamedDurations& b) {
    return a.sum != b.sum ? a.sum > b.sum : a.name < b.name;
  });
  return rows;
}

NamedDurationColumns::NamedDurationColumns(report::Table& table)
    : name_(table.texts("name")),
      sum_(table.reals("sum", report::Unit::ns)),
      count_(table.ints("count", report::Unit::count)),
      mean_(table.reals("mean", report::Unit::ns)),
      deviation_(table.reals("std", report::Unit::ns)),
      least_(table.reals("min", report::Unit::ns)),
      most_(table.reals("max", report::Unit::ns)) {}

void NamedDurationColumns::add(const NamedDurations& row) {
  name_.push_back(row.name);
  sum_.push_back(row.sum);
  count_.push_back(row.count);
  mean_.push_back(row.mean);
  deviation_.push_back(row.deviation);
  least_.push_back(row.least);
  most_.push_back(row.most);
}

std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, double ratio, std::size_t most,
                                        const std::vector<std::string>& allowed) {
  if (rows.size() <= most) return rows;
  std::vector<double> sums;
  double running = 0;
  for (const NamedDurations& row : rows) sums.push_back(running += row.sum);
  const double limit = interpolated(sums, ratio);
  std::vector<NamedDurations> out;
  std::vector<double> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool stays = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& text) {
      return rows[i].name.find(text) != std::string::npos;
    });
    if (!stays && (sums[i] > limit || i >= most))
      others.push_back(rows[i].sum);
    else
      out.push_back(row_of(std::move(rows[i].name), {rows[i].sum}));
  }
  if (!others.empty()) out.push_back(row_of("others", others));
  return out;
}

}  // namespace stepscope::analyze
