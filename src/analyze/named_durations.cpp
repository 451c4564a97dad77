#include "analyze/named_durations.h"

#include <algorithm>

#include "analyze/describe.h"

namespace stepscope::analyze {
NamedDurations named_durations(std::string name, const std::vector<double>& durations) {
  const Description d = described(durations);
  NamedDurations row{std::move(name), 0, d.most, d.least, d.mean, d.count > 1 ? d.deviation : 0, d.count};
  for (const double duration : durations) row.sum += duration;
  return row;
}

std::vector<NamedDurations> DurationsByName::rows() const {
  std::vector<NamedDurations> rows;
  for (const auto& [name, durations] : of_)
    rows.push_back(named_durations(std::string(strings_[name]), durations));
  std::sort(rows.begin(), rows.end(), [](const NamedDurations& a, const NamedDurations& b) {
    return a.sum != b.sum ? a.sum > b.sum : a.name < b.name;
  });
  return rows;
}

}  // namespace stepscope::analyze
