// Durations by name: sums and what single calls are like.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/table.h"
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

/// Columns name, sum, count, mean, std, min, max.
class NamedDurationColumns {
 public:
  explicit NamedDurationColumns(report::Table& table);
  void add(const NamedDurations& row);

 private:
  report::Texts& name_;
  report::Reals& sum_;
  report::Ints& count_;
  report::Reals &mean_, &deviation_, &least_, &most_;
};

/// HTA's rule for many names: where there are more than `most`, those behind the share `ratio` (0 … 1) of the
/// sums become "others", and every row then describes sums in place of calls. Names that contain a text of
/// `allowed` stay.
std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, double ratio, std::size_t most,
                                        const std::vector<std::string>& allowed = {});

}  // namespace stepscope::analyze
