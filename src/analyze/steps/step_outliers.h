// Steps that took much longer than the median step, and what grew in them.
#pragma once

#include <vector>

#include "analyze/question.h"
#include "report/table.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// One step's parts by role, in the order of `roles` given to add_outliers.
struct StepParts {
  StepSpan span;
  std::vector<std::int64_t> parts;  ///< ns
};

/// Columns: step, lane ("step" for a role of the step, "host" for an op's self time), what, time,
/// median_step_time, growth.
report::Table outlier_table(const trace::Trace& trace);

/// Adds rows for each chosen step of a rank that is 20 % and 1 ms longer than the median step (three steps at
/// least): the roles that grew and the five ops whose self time on the host grew most. Partial steps are left
/// out.
void add_outliers(report::Table& table, const trace::Trace& trace, const trace::Rank& rank,
                  const StepChoice& choice, const std::vector<StepParts>& steps,
                  std::span<const char* const> roles);

}  // namespace stepscope::analyze
