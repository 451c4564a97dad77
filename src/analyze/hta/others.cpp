#include "analyze/hta/others.h"

#include <algorithm>

#include "analyze/describe.h"

namespace stepscope::analyze::hta {

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
      out.push_back(named_durations(std::move(rows[i].name), {rows[i].sum}));
  }
  if (!others.empty()) out.push_back(named_durations("others", others));
  return out;
}

}  // namespace stepscope::analyze::hta
