// Steps that took much longer than the median step, and what grew in them.
#pragma once

#include <span>
#include <vector>

#include "analyze/steps/steps.h"

namespace stepscope::analyze {

/// Adds rows for each chosen step that is at least 20 % and 1 ms longer than the median step: the roles that
/// grew, and the five ops whose self time on the host grew most. Needs at least three steps that are not cut
/// off; cut-off steps are ignored. `steps`: all of the rank.
void add_outliers(std::vector<StepOutlier>& outliers, const Derived& derived, const trace::Rank& rank,
                  std::span<const StepTime> steps);

}  // namespace stepscope::analyze
