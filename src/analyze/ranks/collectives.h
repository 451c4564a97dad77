// Which collectives ran, how large and how fast, how much of them was exposed, and when gradients were
// reduced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/ranks/collective.h"

namespace stepscope::analyze {

/// Collectives of one kind and size that begin in the window. Times in ns, summed if not said otherwise.
struct CollectiveSize {
  std::int64_t rank = -1;
  derive::Exchange exchange{};
  std::string dtype = {};
  std::int64_t group_size = report::kNoInt;  ///< kNoInt: not recorded
  std::int64_t bytes = report::kNoInt;       ///< given or received by this rank; kNoInt: not recorded
  std::int64_t count = 0, total = 0;
  std::int64_t exposed = 0;                ///< part of `total` in which no compute kernel runs
  std::int64_t p50 = 0, min = 0, max = 0;  ///< of one collective
  double bus_rate = report::kNoReal;       ///< of the shortest collective, bytes per second on each link
  std::int64_t host = 0;                   ///< time of the host ranges that issue them
  std::int64_t brief = 0;                  ///< part of `total` in collectives that are mostly latency
};

/// When one step's gradients were reduced, ns.
struct StepReduction {
  std::int64_t rank, step;
  std::int64_t backward;      ///< time of compute kernels of the backward pass
  std::int64_t before_first;  ///< part of `backward` before the first reduction begins
  double before_share;        ///< before_first / backward
  std::int64_t exposed;       ///< time of the reductions in which no compute kernel runs
};

struct Collectives {
  std::vector<CollectiveSize> sizes;  ///< by rank, longest total first
  std::vector<StepReduction> reductions;
  std::vector<std::string> notes;
};
Collectives collectives_of(const Derived& derived);

}  // namespace stepscope::analyze
