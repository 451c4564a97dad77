// Mean, median, standard deviation and range of repeated measurements, and the columns that show them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/table.h"

namespace stepscope::analyze::lens {

struct Spread {
  double sum = 0;
  double mean = report::kNoReal, median = report::kNoReal;
  double deviation = report::kNoReal;   ///< of the sample (n - 1); absent for one value
  double population = report::kNoReal;  ///< of the values themselves (n)
  double least = report::kNoReal, most = report::kNoReal;
};

/// Values that are not finite are left out.
Spread spread_of(std::vector<double> values);

/// NAME_mean, NAME_median, NAME_std, NAME_min, NAME_max.
class SpreadColumns {
 public:
  SpreadColumns(report::Table& table, const std::string& name, report::Unit unit);
  void add(const Spread& spread, bool population = false);

 private:
  report::Reals &mean_, &median_, &deviation_, &least_, &most_;
};

}  // namespace stepscope::analyze::lens
