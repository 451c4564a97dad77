// What the shapes in a recording say of a training step's gradients, where the recorder did not count them.
#pragma once

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Gradients that parameters get (torch::autograd::AccumulateGrad) in one backward pass of a step of the
/// window, and which of them no optimizer reads: those of shapes that no operator in a range Optimizer.step#
/// gets. A parameter that shares its shape with one of an optimizer's counts as read, so what is unread is at
/// least that much. `unread_names` has shapes. Embeddings: by rows and length; `touched` is at most the
/// number of rows that a step looks up. Not seen: the gradients' shapes were not recorded. Nothing is unread
/// if lists of the optimizers' tensors are cut off or without shapes, or no shape is in both. O(rows).
trace::Training gradients_by_shape(const trace::Trace& trace, const trace::Rank& rank,
                                   timeline::Interval window);

}  // namespace stepscope::derive
