// Collectives that run on the CPU: how long the main thread waits for them, and when the first one begins.
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/derived.h"
#include "report/sheet.h"

namespace stepscope::analyze {

/// Collectives on the CPU in one step of a rank. Times in ns.
struct HostCollectives {
  std::int64_t rank, step;
  std::int64_t collectives;   ///< begun in the step
  std::int64_t total;         ///< time in which at least one runs
  std::int64_t exposed;       ///< of `total`, within the step, while the main thread does not compute
  std::int64_t backward;      ///< main thread's time in operators of the backward pass
  std::int64_t before_first;  ///< of `backward`, before the first collective begins
};
extern const report::Sheet<HostCollectives> kHostCollectiveSheet;

/// Adds the rank's steps in which a collective ran on the CPU.
void add_host_collectives(std::vector<HostCollectives>& steps, const Derived& derived,
                          const trace::Rank& rank);

}  // namespace stepscope::analyze
