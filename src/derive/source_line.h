// The line of source behind a host range: "file(line): function", from Python frames or from a recorded call
// stack.
#pragma once

#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// Asked once per name. Holds references to the trace and the rank.
class SourceLines {
 public:
  SourceLines(const trace::Trace& trace, const trace::Rank& rank);

  /// The nearest frame above `row` outside the framework's own files, else the nearest frame with a file; ""
  /// when no stack is recorded. Frames are Python ranges on the same thread; without any, those of the `Call
  /// stack` arg of the innermost op that has one.
  std::string_view of(trace::Row row);

 private:
  enum FrameClass : std::uint8_t { kUnasked, kNoFile, kFramework, kUser };
  FrameClass class_of(trace::StringId name);
  std::string_view in_call_stack(trace::Row row);

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader call_stack_;
  std::vector<FrameClass> by_name_;
  std::vector<std::string_view> stack_line_;  // by id of the stack's text
  std::vector<bool> stack_asked_;
};

}  // namespace stepscope::derive
