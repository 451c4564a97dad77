// The stages of derive::fill, in the order in which they depend on each other.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

/// parent and depth of host ranges. O(n).
void fill_nesting(trace::Rank& rank);
/// launch and op. Needs parent. O(n).
void fill_links(const trace::Trace& trace, trace::Rank& rank);
/// Rank::steps and step. Needs launch. O(n log steps).
void fill_steps(const trace::Trace& trace, trace::Rank& rank);
/// work class of device events. Needs op. O(n).
void fill_work(const trace::Trace& trace, trace::Rank& rank);

}  // namespace stepscope::derive
