// Whether the newest of many recordings may follow the others, and where their history changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compare/comparable.h"
#include "compare/gate.h"
#include "compare/metric.h"
#include "report/params.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// One recording, reduced to what a history needs, so that its Trace can go.
struct Run {
  std::string name;
  std::int64_t start = 0;  ///< of its first event, Unix nanoseconds
  Subject subject;
  std::vector<MetricValues> metrics;  ///< by limit: one value, the median of its steps; or why there is none
};

/// `params`: step, skip, threads.
Run run_of(std::string name, const trace::Trace& trace, const std::vector<Limit>& limits,
           const report::Params& params);

/// Decides whether the last run may follow the others. Runs are sorted by time, except the last if
/// `newest_is_last`. BASE is the history since its last change point. A run that cannot be compared with the
/// last is left out with a note; so is one that is the same recording. The gate has the trends.
Gate gate_history(std::vector<Run> runs, bool newest_is_last, const std::vector<Limit>& limits,
                  double allow_noise);

}  // namespace stepscope::compare
