#include "advise/caveats.h"

#include <fmt/format.h>

#include "advise/health.h"
#include "analyze/analyses.h"

namespace stepscope::advise {

std::string caveat(const report::Health& row, bool several_ranks) {
  return fmt::format("{}{} This puts in doubt: {}.", several_ranks ? fmt::format("Rank {}: ", row.rank) : "",
                     row.what, row.suffers);
}

std::vector<std::string> caveats(const analyze::Derived& derived) {
  Reports reports;  // what health reads
  reports.overview = analyze::overview_of(derived);
  reports.idle = analyze::idle_of(derived);
  const trace::Trace& trace = derived.trace();
  std::vector<std::string> out;
  for (const trace::Rank& rank : trace.ranks) {
    const Evidence evidence(reports, rank.rank);
    const bool has_device = device_rows(evidence) > 0;
    for (const Health& row : check_health(evidence))
      if (row.grade == HealthClass::A && (has_device || row.id == HealthId::Q16))
        out.push_back(caveat(row, trace.several()));
  }
  return out;
}

}  // namespace stepscope::advise
