// The Python stack around an event.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::lanes {

struct Frame {
  std::string_view name;   ///< of the function; the whole text if it has no file
  std::string_view file;   ///< "" if the text has none
  std::int64_t line = -1;  ///< -1 without a file
};

/// "train.py(88): main"
Frame frame_of(std::string_view text);

/// The innermost frame first, at most 1,000. From Python ranges around the event or around the call that
/// launched it; without any, from the recorded call stack of its operator; else one frame, from samples.
std::vector<Frame> stack_of(const trace::Trace& trace, const trace::Rank& rank, trace::Row row);

}  // namespace stepscope::lanes
