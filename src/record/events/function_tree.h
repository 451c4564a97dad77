// What follows from the columns of function events, from the event `first` on. Parents stand before their
// children.
#pragma once

#include <cstddef>

#include "record/events/function_events.h"

namespace stepscope::record {

/// An only child of its parent's name goes; its children and what it started become the parent's.
void merge_repeated(FunctionEvents& events, std::size_t first);

void subtract_children(FunctionEvents& events, std::size_t first);

/// An op has the time of the work that it started as its own, and that of its children.
void add_device_times(FunctionEvents& events, std::size_t first);

/// What runs below a backward op has the stack of the forward op: that of its thread and sequence number.
void set_backward_stacks(FunctionEvents& events, std::size_t first);

}  // namespace stepscope::record
