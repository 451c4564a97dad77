// The same kernels at the begin and at the end of a recording: a difference comes from the clock.
#pragma once

#include <vector>

#include "analyze/question.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// A rank's kernels that run in every complete step but the first, grouped by name, grid and block. If the
/// file has whole µs, `groups` and `slower` skip groups under 20 µs: they cannot show 5 %. Times in ns.
struct KernelDrift {
  std::int64_t rank, groups;
  std::int64_t kernels;  ///< per step
  double slower;         ///< share of groups over 5 % slower in the last third of the steps than in the first
  double pace;           ///< kernel time, last third ÷ first third
  std::int64_t since_step;  ///< from it on, all steps are closer to the last third; kNoInt if none
  std::int64_t excess;      ///< time of the steps from `since_step` on, beyond the mean of the first third
  std::int64_t total;
};

/// Adds nothing for fewer than five complete steps.
void add_kernel_drift(std::vector<KernelDrift>& drifts, const trace::Trace& trace, const trace::Rank& rank);
extern const report::Sheet<KernelDrift> kKernelDriftSheet;

}  // namespace stepscope::analyze
