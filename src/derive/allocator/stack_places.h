// Which place in the program a stack of a memory snapshot stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/snapshot.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Looks up each frame once. Holds references to both.
class StackPlaces {
 public:
  StackPlaces(const trace::Trace& trace, const trace::Snapshot& snapshot);

  /// Whether any frame is Python's.
  bool has_python(trace::StackId stack) const;
  /// Whether any frame is of an optimizer of PyTorch.
  bool has_optimizer(trace::StackId stack) const;
  /// "file(line): function" of the innermost frame in the program's own files; without one, of the innermost
  /// Python frame; without one, the operator whose backward runs, "MulBackward0"; without one, the innermost
  /// C++ function outside of PyTorch, else in PyTorch, that is not the recorder's or the allocator's; ""
  /// without any. C++ functions are without their parameters.
  std::string place(trace::StackId stack) const;
  /// The same without the line, so for all lines of a function; a C++ function stays.
  std::string function(trace::StackId stack) const;
  /// All frames but the recorder's and the interpreter's, outermost first, with semicolons.
  std::string folded(trace::StackId stack) const;

 private:
  enum Class : std::uint8_t { hidden, framework, native, backward, library, own };
  const trace::Frame* frame_of(trace::StackId stack) const;
  std::string text(const trace::Frame& frame, bool line) const;

  const trace::Trace& trace_;
  const trace::StackTable& stacks_;
  std::vector<Class> classes_;  ///< by frame
};

}  // namespace stepscope::derive
