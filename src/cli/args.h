// The command line and the environment, turned into a Call.
#pragma once

#include <variant>

#include "cli/commands.h"

namespace stepscope::cli {

/// Something to print instead of running a command: help, the version, or a usage error.
struct Answer {
  std::string text;
  int exit_code;  ///< kUsage texts go to stderr
};

/// `stepscope TRACE` is `stepscope report TRACE`.
std::variant<Call, Answer> parse(int argc, const char* const* argv);

}  // namespace stepscope::cli
