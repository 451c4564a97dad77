// Durations by name: sums, and statistics of single calls.
#pragma once

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "report/sheet.h"
#include "timeline/interval.h"
#include "trace/string_pool.h"

namespace stepscope::analyze {

struct NamedDurations {
  std::string name;
  double sum = 0, most = 0, least = 0, mean = 0;
  double deviation = 0;  ///< the sample's, divided by n - 1; 0 for a single duration
  std::int64_t count = 0;
};

/// Groups durations, in ns, by name id.
class DurationsByName {
 public:
  explicit DurationsByName(const trace::StringPool& strings) : strings_(strings) {}
  void add(trace::StringId name, timeline::Time duration) {
    of_[name].push_back(static_cast<double>(duration));
  }
  /// Largest sum first; equal sums by name.
  std::vector<NamedDurations> rows() const;

 private:
  const trace::StringPool& strings_;
  std::map<trace::StringId, std::vector<double>> of_;
};

/// `before`, then the fields of Row's base NamedDurations: name, sum, count, mean, std, min, max.
template <class Row>
std::vector<report::Field<Row>> with_durations(std::vector<report::Field<Row>> before) {
  const report::Field<Row> own[] = {{"name", &Row::name},
                                    {"sum", &Row::sum, report::Unit::ns},
                                    {"count", &Row::count, report::Unit::count},
                                    {"mean", &Row::mean, report::Unit::ns},
                                    {"std", &Row::deviation, report::Unit::ns},
                                    {"min", &Row::least, report::Unit::ns},
                                    {"max", &Row::most, report::Unit::ns}};
  before.insert(before.end(), std::begin(own), std::end(own));
  return before;
}
/// Sum and statistics of the durations of one name.
NamedDurations named_durations(std::string name, const std::vector<double>& durations);

}  // namespace stepscope::analyze
