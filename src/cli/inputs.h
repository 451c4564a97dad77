// Whether a command line's files can be what it reads and writes.
#pragma once

#include <string>

#include "cli/commands.h"

namespace stepscope::cli {

/// One sentence when a recording is named twice or is what -o names, or "".
std::string inputs_misfit(const Call& call);

}  // namespace stepscope::cli
