// What an event's category and name say of its kind, in every dialect torch.profiler has written.
#pragma once

#include <string_view>

#include "trace/event_table.h"

namespace stepscope::read {

/// What an event's category means. Old and new spellings, any vendor.
trace::Kind kind_of_category(std::string_view category);
/// The kind of an event whose category gives `kind`: some vendors list waits for events, and the recording of
/// events, with their kernels.
trace::Kind kind_by_name(trace::Kind kind, std::string_view name);

}  // namespace stepscope::read
