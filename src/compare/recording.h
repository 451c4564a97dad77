// One side of a comparison: how long its steps took, and where the time went.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/steps/steps.h"
#include "compare/counted_steps.h"
#include "compare/leaf.h"
#include "trace/trace.h"

namespace stepscope::compare {

/// Max samples per side for comparing rows; in longer recordings a sample is the mean of several neighbouring
/// steps.
inline constexpr std::size_t kMaxRowSamples = 100;

/// A part of the step, as in the analysis `steps`.
struct PartOfStep {
  analyze::StepRole role;
  std::vector<double> time;  ///< ns by step, the mean over ranks
  std::string_view name() const { return name_of(role); }
};

struct Recording {
  CountedSteps counted;
  std::vector<double> step;       ///< ns by step, of the slowest rank: what the job sees
  std::vector<PartOfStep> parts;  ///< in the order of analyze::kStepColumns; none without steps
  /// Every instant of a step belongs to one leaf: the compute kernel that runs, else the collective, copy or
  /// fill, else the work of the host, the main thread first. The leaves add up to `step`, sample by sample.
  std::vector<Leaf> leaves;
};

/// Without leaves (leaves_of() makes them).
Recording recording_of(const trace::Trace& trace, CountedSteps counted);

}  // namespace stepscope::compare
