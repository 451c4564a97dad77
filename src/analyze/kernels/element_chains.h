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

/// Time of element-wise kernels saved if each run of them becomes one kernel. A run: consecutive kernels of
/// one stream, of kinds pointwise, cast, copy and concat, with the same grid, so with equally many elements.
/// Each of its k kernels reads and writes memory once, the fused kernel once for all: this saves (k-1)/k.
ChainedTime chained_time(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice);

}  // namespace stepscope::analyze
