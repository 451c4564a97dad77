// Collectives that run on the CPU: what the main thread waits for them, and when the first one began.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Collectives on the CPU in one step of a rank. Times in ns.
struct HostCollectives {
  std::int64_t rank, step;
  std::int64_t collectives;   ///< that begin in the step
  std::int64_t total;         ///< at least one runs
  std::int64_t exposed;       ///< of that in the step, the main thread does not compute
  std::int64_t backward;      ///< the main thread runs operators of the backward pass
  std::int64_t before_first;  ///< of that, over when the first collective begins
};
extern const report::Sheet<HostCollectives> kHostCollectiveSheet;

/// Adds the steps of a rank in which a collective ran on the CPU.
void add_host_collectives(std::vector<HostCollectives>& steps, const Derived& derived,
                          const trace::Rank& rank);

}  // namespace stepscope::analyze
