// How much of the sequences that a program joins into batches is padding.
#pragma once

#include <cstdint>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Elements of the results of aten::pad_sequence, and how many of them no sequence fills. Both 0 where it is
/// not called, or shapes are not recorded.
struct Padding {
  std::int64_t elements = 0, padding = 0;
};

/// Of the calls that begin in the window, on all host threads. Each fills its result (aten::fill_) and copies
/// the sequences into it (aten::copy_). O(n).
Padding padding_of(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval window);

}  // namespace stepscope::derive
