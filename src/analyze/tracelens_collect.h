// Which op stands for which device events when every event is to be counted once.
#pragma once

#include <span>
#include <vector>

#include "analyze/tracelens.h"

namespace stepscope::analyze::lens {

/// An op with all that runs below it, or one device event that no collected op covers.
struct Collected {
  trace::Row op;
  trace::Row kernel = trace::kNoRow;   ///< of a left-over event
  trace::Row forward = trace::kNoRow;  ///< of a backward node that its forward op's model measures
  bool modelled = false;

  /// The row whose place in the file is shown.
  trace::Row shown() const { return kernel == trace::kNoRow ? op : kernel; }
  std::span<const trace::Row> events(const HostTree& tree) const {
    return kernel == trace::kNoRow ? tree.below(op) : std::span<const trace::Row>(&kernel, 1);
  }
};

/// From the roots down: an op with a model; else an autograd node whose forward op's model covers it; else an
/// op that launches work itself, no collective, and has no modelled op below. What these leave over stands
/// alone, collectives aside. By start.
std::vector<Collected> collected_ops(const Lens& lens);

}  // namespace stepscope::analyze::lens
