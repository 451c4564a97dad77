// The same kernels at the end of a recording and at its begin: what changes then is the clock.
#pragma once

#include <vector>

#include "analyze/question.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Of a rank's kernels of one name, grid and block that run in every complete step but the first. Where the
/// file has whole µs, groups under 20 µs do not count among the slower ones nor the others: they cannot show
/// 5 %. Times in ns.
struct KernelDrift {
  std::int64_t rank, groups;
  std::int64_t kernels;  ///< per step
  double slower;         ///< share of groups that are slower in the last third of the steps than in the first
  double pace;           ///< last third ÷ first third
  std::int64_t since_step;  ///< from there on all are nearer to the last third; report::kNoInt when none is
  std::int64_t excess;      ///< what these steps take beyond the first third
  std::int64_t total;
};

/// Adds nothing with under five steps.
void add_kernel_drift(std::vector<KernelDrift>& drifts, const trace::Trace& trace, const trace::Rank& rank);
extern const report::Sheet<KernelDrift> kKernelDriftSheet;

}  // namespace stepscope::analyze
