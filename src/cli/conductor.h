// Starts a part of the Python package that runs copies of a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"

namespace stepscope::cli {

/// Becomes `python -m MODULE OPTIONS -- PROGRAM` with the program's own Python; returns only if it cannot.
int run_conductor(std::string_view module, const std::vector<std::string>& options, const Call& call);

}  // namespace stepscope::cli
