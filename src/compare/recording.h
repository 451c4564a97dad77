// One side of a comparison: how long its steps took, and what they went to.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/steps/steps.h"
#include "compare/counted_steps.h"
#include "compare/leaf.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// Rows are compared by at most so many samples a side; of longer recordings a sample is the mean of several
/// steps in a row.
inline constexpr std::size_t kMaxRowSamples = 100;

/// A part of the step, as the analysis `steps` cuts it.
struct PartOfStep {
  analyze::StepRole role;
  std::vector<double> time;  ///< ns by step, the mean over ranks
  std::string_view name() const { return name_of(role); }
};

struct Recording {
  CountedSteps counted;
  std::vector<double> step;       ///< ns by step, of the slowest rank: what the job sees
  std::vector<PartOfStep> parts;  ///< in the order of analyze::kStepColumns; none without steps
  /// Every instant of a step belongs to one: to the compute kernel that runs, else to the collective, copy or
  /// fill, else to what the host does, the main thread first. They add up to `step`, sample by sample.
  std::vector<Leaf> leaves;
};

/// Without leaves (compare/leaves.h cuts them).
Recording recording_of(const trace::Trace& trace, CountedSteps counted);

/// Means of `values` in at most `most` groups of neighbours of about one size.
std::vector<double> grouped(const std::vector<double>& values, std::size_t most);

}  // namespace stepscope::compare
