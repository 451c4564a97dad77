// A recording as an execution trace: PyTorch's JSON of ops, who called whom, and their inputs, without times.
//
// A node's `rf_id` is the `Record function id` that Kineto's JSON of the same recording gives to that op.
#pragma once

#include <functional>
#include <string_view>

#include "record/recording.h"

namespace stepscope::record {

/// Calls `take` with the text, piece by piece, until it returns false. `process_groups`: JSON of them; "":
/// there are none. Memory: 64 bytes per op, and its inputs once per signature.
void write_execution_trace(const Recording& recording, std::string_view process_groups,
                           const std::function<bool(std::string_view)>& take);

}  // namespace stepscope::record
