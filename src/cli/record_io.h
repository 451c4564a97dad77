// `record --io`: the library that is preloaded into the program, and what it is told.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"

namespace stepscope::cli {

/// Variables of the environment, NAME=VALUE, that make the program record its file I/O into `folder`; empty
/// without
/// --io. An error if the library is not found, or the program is one that nothing can be preloaded into.
Result<std::vector<std::string>> io_environment(const Call& call, const std::filesystem::path& folder);

/// Why processes recorded no I/O, as they left it in `folder`; removes these files.
std::vector<std::string> io_troubles(const std::filesystem::path& folder);

}  // namespace stepscope::cli
