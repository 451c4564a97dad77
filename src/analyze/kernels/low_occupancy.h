// Kernels of the program's own, or of a compiler, that hold few of a multiprocessor's threads.
#pragma once

#include <string>
#include <vector>

#include "analyze/question.h"
#include "derive/roof/occupancy_limit.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Kernels of one name. Times in ns, means weighted with durations.
struct LowOccupancy {
  std::int64_t rank;
  std::string name;
  std::int64_t count, total;
  double share;                  ///< of the time of all compute kernels
  double occupancy;              ///< without kernels whose estimate is 0
  double blocks_per_sm;          ///< likewise
  derive::OccupancyLimit limit;  ///< of the longest
  double bandwidth_share;  ///< of the longest: bytes of its operator's tensors ÷ what memory moves meanwhile
};

/// Adds the rank's kernels that hold under half of the threads, though each multiprocessor gets a block or
/// more; longest total first.
void add_low_occupancy(std::vector<LowOccupancy>& kernels, const trace::Trace& trace, const trace::Rank& rank,
                       const StepChoice& choice);
extern const report::Sheet<LowOccupancy> kLowOccupancySheet;

}  // namespace stepscope::analyze
