// Steps that took much longer than the median step, and what grew in them.
#pragma once

#include <span>
#include <vector>

#include "analyze/steps/steps.h"

namespace stepscope::analyze {

/// Adds rows for each chosen step of a rank that is 20 % and 1 ms longer than the median step (three steps at
/// least): the roles that grew and the five ops whose self time on the host grew most. Steps that are cut off
/// are left out. `steps`: all of the rank.
void add_outliers(std::vector<StepOutlier>& outliers, const Derived& derived, const trace::Rank& rank,
                  std::span<const StepTime> steps);

}  // namespace stepscope::analyze
