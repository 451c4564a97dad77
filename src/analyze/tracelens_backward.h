// Forward ops and the autograd nodes that run their backward pass.
#pragma once

#include <vector>

#include "analyze/tracelens.h"

namespace stepscope::analyze::lens {

struct BackwardNode {
  trace::Row row;      ///< `autograd::engine::evaluate_function: …`
  trace::Row forward;  ///< the op of another thread with the same sequence number that began last
};

/// Nodes with a forward op, by row.
std::vector<BackwardNode> backward_nodes(const Lens& lens);

}  // namespace stepscope::analyze::lens
