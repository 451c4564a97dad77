// A recording as an execution trace: PyTorch's JSON of ops, their callers and their inputs, without times.
//
// A node's `rf_id` equals the op's `Record function id` in Kineto's JSON of the same recording.
#pragma once

#include <functional>
#include <string_view>

#include "record/recording.h"

namespace stepscope::record {

/// Calls `take` with the text, piece by piece, until it returns false. `process_groups`: JSON, or "" if there
/// are none. Memory: 64 bytes per op, plus its inputs once per signature.
void write_execution_trace(const Recording& recording, std::string_view process_groups,
                           const std::function<bool(std::string_view)>& take);

}  // namespace stepscope::record
