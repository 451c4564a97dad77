// The stages of derive::fill, in the order in which they depend on each other.
#pragma once

#include "trace/trace.h"

namespace stepscope::derive {

/// Fills `parent` and `depth` of host ranges. O(n).
void fill_nesting(trace::Rank& rank);
/// Fills `launch` of device rows. O(n).
void fill_launches(const trace::Trace& trace, trace::Rank& rank);
/// Fills `op`; device rows get the op of their launch. Needs `parent` and `launch`. O(n).
void fill_ops(const trace::Trace& trace, trace::Rank& rank);
/// Fills Rank::steps and Rank::step_border, and `step` of host rows. O(n log steps).
void fill_host_steps(const trace::Trace& trace, trace::Rank& rank);
/// Fills `step` of device events. Needs `launch` and the host's steps. O(n log steps).
void fill_device_steps(trace::Rank& rank);
/// Fills the work class of device events. O(n).
void fill_work(const trace::Trace& trace, trace::Rank& rank);

}  // namespace stepscope::derive
