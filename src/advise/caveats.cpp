#include "advise/caveats.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/health.h"
#include "analyze/analyses.h"

namespace stepscope::advise {

std::string caveat(std::string_view rank, std::string_view what, std::string_view suffers) {
  return fmt::format("{}{} That makes doubtful: {}.", rank.empty() ? "" : fmt::format("Rank {}: ", rank),
                     what, suffers);
}

std::vector<std::string> caveats(const analyze::Derived& derived) {
  Reports reports;  // what health reads
  reports.overview = analyze::overview_of(derived);
  reports.idle = analyze::idle_of(derived);
  const trace::Trace& trace = derived.trace();
  std::vector<std::string> out;
  for (const trace::Rank& rank : trace.ranks) {
    const std::vector<Health> rows = check_health(Evidence(reports, rank.rank, trace.several()));
    const auto no_device = [](const Health& row) { return row.id == "Q10"; };
    if (std::any_of(rows.begin(), rows.end(), no_device)) continue;
    for (const Health& row : rows)
      if (row.grade == HealthClass::A)
        out.push_back(caveat(trace.several() ? std::to_string(rank.rank) : "", row.what, row.suffers));
  }
  return out;
}

}  // namespace stepscope::advise
