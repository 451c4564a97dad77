// An event's kind from its category and name, in every dialect torch.profiler has written.
#pragma once

#include <string_view>

#include "trace/event_table.h"

namespace stepscope::read {

/// The kind of a category. Old and new spellings, any vendor.
trace::Kind kind_of_category(std::string_view category);
/// Corrects the `kind` of an event's category by its name: some vendors list event waits and event records
/// among their kernels.
trace::Kind kind_by_name(trace::Kind kind, std::string_view name);

}  // namespace stepscope::read
