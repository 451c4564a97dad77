// What the recorder reports that it could not record.
#pragma once

#include <string_view>

#include "trace/trace.h"

namespace stepscope::read {

/// Prefix of the head's keys for it; each key holds an array of sentences.
inline constexpr std::string_view kNotRecorded = "stepscope.not_recorded";

/// Adds these sentences of all ranks to the trace's notes. Ranks must have their final numbers.
void note_not_recorded(trace::Trace& trace);

}  // namespace stepscope::read
