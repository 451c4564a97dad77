#include "analyze/hta/others.h"

#include <algorithm>

#include "analyze/describe.h"
#include "base/text.h"

namespace stepscope::analyze::hta {

std::vector<NamedDurations> with_others(std::vector<NamedDurations> rows, const report::Params& params,
                                        std::int64_t most) {
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("num-kernels", most)));
  if (rows.size() <= limit) return rows;
  const std::vector<std::string> allowed = params.texts("keep");
  std::vector<double> sums;
  double running = 0;
  for (const NamedDurations& row : rows) sums.push_back(running += row.sum);
  const double max_sum = interpolated(sums, params.share("duration-ratio", 0.8));
  std::vector<NamedDurations> out;
  std::vector<double> others;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool stays = std::any_of(allowed.begin(), allowed.end(),
                                   [&](const std::string& text) { return has(rows[i].name, text); });
    if (!stays && (sums[i] > max_sum || i >= limit))
      others.push_back(rows[i].sum);
    else
      out.push_back(named_durations(std::move(rows[i].name), {rows[i].sum}));
  }
  if (!others.empty()) out.push_back(named_durations("others", others));
  return out;
}

}  // namespace stepscope::analyze::hta
