// Which collectives ran, how large and how fast, which of them nothing hid, and when gradients were reduced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/ranks/collective.h"

namespace stepscope::analyze {

/// Collectives of one kind and size that begin in the window. Sums over them, ns.
struct CollectiveSize {
  std::int64_t rank = -1;
  derive::Exchange exchange{};
  std::string dtype = {};
  std::int64_t group_size = report::kNoInt;  ///< kNoInt: not recorded
  std::int64_t bytes = report::kNoInt;       ///< that this rank gives or gets; kNoInt: not recorded
  std::int64_t count = 0, total = 0;
  std::int64_t exposed = 0;                ///< of the total, no compute kernel runs
  std::int64_t p50 = 0, min = 0, max = 0;  ///< of one collective, ns
  double bus_rate = report::kNoReal;       ///< bytes per second on each link, of the shortest one
  std::int64_t host = 0;                   ///< in the host ranges that issue them
  std::int64_t brief = 0;                  ///< of the total, in those that are latency rather than transfer
};

/// When one step's gradients were reduced, ns.
struct StepReduction {
  std::int64_t rank, step;
  std::int64_t backward;      ///< compute kernels of the backward pass
  std::int64_t before_first;  ///< of that, over when the first reduction begins
  double before_share;        ///< before_first / backward
  std::int64_t exposed;       ///< of the reductions
};

struct Collectives {
  std::vector<CollectiveSize> sizes;  ///< by rank, longest total first
  std::vector<StepReduction> reductions;
  std::vector<std::string> notes;
};
Collectives collectives_of(const Derived& derived);

}  // namespace stepscope::analyze
