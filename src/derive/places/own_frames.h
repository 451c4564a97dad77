// Which Python frames are lines of the program itself, not of Python's library or of a package.
#pragma once

#include <string_view>

#include "trace/asked_once.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// "file(line)" of a frame "file(line): function"; "" for any other text.
std::string_view file_and_line(std::string_view frame);

/// Whether a Python file is the program's own, by its path: not below site-packages, not PyTorch's, not of a
/// well-known package or of Python's library.
bool is_own_file(std::string_view file);

/// By the list of the program's lines, if the recorder wrote one. Without it, by is_own_file().
class OwnFrames {
 public:
  OwnFrames(const trace::Trace& trace, const trace::Rank& rank);
  bool operator()(trace::StringId frame) { return own_(frame); }
  /// The line's text; "" if it is not recorded.
  std::string_view text(std::string_view frame) const;

 private:
  struct Ask {
    const trace::Rank* rank;
    bool operator()(std::string_view frame) const;
  };
  const trace::Rank& rank_;
  trace::AskedOnce<Ask> own_;
};

}  // namespace stepscope::derive
