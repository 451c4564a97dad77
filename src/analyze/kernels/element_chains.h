// Runs of element-wise kernels that one fused kernel could replace.
#pragma once

#include <array>
#include <cstdint>

#include "analyze/question.h"
#include "derive/kernel_kind.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// ns by kind of kernel.
using ChainedTime = std::array<std::int64_t, derive::kKernelKinds>;

/// What goes of the time of element-wise kernels when each run of them becomes one kernel. A run: kernels of
/// kinds pointwise, cast, copy and concat with one grid (so over as many elements), next to each other on
/// their stream. Each of k reads and writes memory once, the fused one does so once for all: (k-1)/k goes.
ChainedTime chained_time(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

}  // namespace stepscope::analyze
