#include "analyze/tracelens_spread.h"

#include <algorithm>
#include <cmath>

namespace stepscope::analyze::lens {

using report::Role;

Spread spread_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.sum += value;
  spread.mean = spread.sum / n;
  const std::size_t half = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  spread.least = values.front();
  spread.most = values.back();
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.population = std::sqrt(squares / n);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / (n - 1));
  return spread;
}

SpreadColumns::SpreadColumns(report::Table& table, const std::string& name, report::Unit unit)
    : mean_(table.reals(name + "_mean", unit)),
      median_(table.reals(name + "_median", unit, Role::detail)),
      deviation_(table.reals(name + "_std", unit, Role::detail)),
      least_(table.reals(name + "_min", unit, Role::detail)),
      most_(table.reals(name + "_max", unit, Role::detail)) {}

void SpreadColumns::add(const Spread& spread, bool population) {
  mean_.push_back(spread.mean);
  median_.push_back(spread.median);
  deviation_.push_back(population ? spread.population : spread.deviation);
  least_.push_back(spread.least);
  most_.push_back(spread.most);
}

}  // namespace stepscope::analyze::lens
