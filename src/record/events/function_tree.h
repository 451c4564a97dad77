// Derives further columns of function events, from the event `first` on. Parents come before their
// children.
#pragma once

#include <cstddef>

#include "record/events/function_events.h"

namespace stepscope::record {

/// Merges an only child with its parent's name into the parent, with its children and the work it launched.
void merge_repeated(FunctionEvents& events, std::size_t first);

void subtract_children(FunctionEvents& events, std::size_t first);

/// Device time of each op: of the work that it launched (self), and including that of its children.
void add_device_times(FunctionEvents& events, std::size_t first);

/// A backward op and the ops in it get the stack of the op with its sequence number in its forward thread.
void set_backward_stacks(FunctionEvents& events, std::size_t first);

}  // namespace stepscope::record
