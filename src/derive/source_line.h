// The source line of a host range, "file(line): function", from Python frames, a recorded call stack or
// samples.
#pragma once

#include <string_view>
#include <vector>

#include "derive/places/sampled_lines.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Looks up each name once. Holds references to the trace and the rank.
class SourceLines {
 public:
  SourceLines(const trace::Trace& trace, const trace::Rank& rank);

  /// The nearest frame around `row` outside the framework's own files, else the nearest frame with a file,
  /// else "". Frames are Python ranges on the same thread; without any, frames of the `Call stack` arg of the
  /// innermost op that has one; without any, samples.
  std::string_view of(trace::Row row);

 private:
  enum FrameClass : std::uint8_t { kUnasked, kNoFile, kFramework, kUser };
  FrameClass class_of(trace::StringId name);
  std::string_view in_call_stack(trace::Row row);

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader call_stack_;
  SampledLines samples_;
  std::vector<FrameClass> by_name_;
  std::vector<std::string_view> stack_line_;  // by string id of the stack's text
  std::vector<bool> stack_asked_;
};

}  // namespace stepscope::derive
