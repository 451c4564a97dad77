// What the recorder says it could not record.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace stepscope::read {

/// The head's keys that say so begin with this; each holds an array of sentences.
inline constexpr std::string_view kNotRecorded = "stepscope.not_recorded";

/// Makes these sentences of all ranks notes of the trace. Ranks have their final numbers.
void note_not_recorded(trace::Trace& trace);

}  // namespace stepscope::read
