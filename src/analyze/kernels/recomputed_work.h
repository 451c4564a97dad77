// Device time that activation checkpointing costs, and the memory that it saves.
#pragma once

#include <vector>

#include "analyze/question.h"
#include "derive/roof/recompute.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Forward work that a rank repeats in the backward pass.
struct RecomputedWork {
  std::int64_t rank;
  derive::Recomputation::Evidence known_by;
  std::int64_t kernels, time;  ///< ns
  double share;                ///< of the time of all compute kernels
  /// Bytes that recomputation allocates in a step and does not free itself, max over steps and devices:
  /// without recomputation they would be held since the forward pass. kNoInt if allocations are not recorded.
  std::int64_t held;
};

/// Adds nothing if the rank recomputes nothing.
void add_recomputed_work(std::vector<RecomputedWork>& work, const trace::Trace& trace,
                         const trace::Rank& rank, const StepChoice& choice);
extern const report::Sheet<RecomputedWork> kRecomputedWorkSheet;

}  // namespace stepscope::analyze
