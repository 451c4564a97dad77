// Durations by name: sums and what single calls are like.
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
  double deviation = 0;  ///< of a sample, divided by n - 1; 0 of one
  std::int64_t count = 0;
};

/// Gathers durations, in ns, by the name's id.
class DurationsByName {
 public:
  explicit DurationsByName(const trace::StringPool& strings) : strings_(strings) {}
  void add(trace::StringId name, timeline::Time duration) {
    of_[name].push_back(static_cast<double>(duration));
  }
  /// Longest sum first; of equal ones by name.
  std::vector<NamedDurations> rows() const;

 private:
  const trace::StringPool& strings_;
  std::map<trace::StringId, std::vector<double>> of_;
};

/// `before`, and the fields of a row that is a NamedDurations: name, sum, count, mean, std, min, max.
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
/// Of durations of one name.
NamedDurations named_durations(std::string name, const std::vector<double>& durations);

}  // namespace stepscope::analyze
