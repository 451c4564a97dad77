// Makes running Python programs listen that `stepscope run` did not start.
#pragma once

#include <string>

#include "base/result.h"

namespace stepscope::cli {

struct Reached {
  std::string process;
  std::string socket;  ///< its path
};

/// Makes the process, or the first Python that it started, listen for `attach`. From Python 3.14 on, its
/// own interpreter asks it to (sys.remote_exec). With `injects`, gdb does, on any Python.
Result<Reached> reach(const std::string& process, bool injects);

}  // namespace stepscope::cli
