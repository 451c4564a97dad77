// `record --io`: the library that is preloaded into the program, and what it is told.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/temporary_folder.h"

namespace stepscope::cli {

/// What makes a program record its file I/O, while this object lives.
struct IoSetup {
  std::vector<std::string> environment;  ///< NAME=VALUE
  /// Holds a link to the library if the name of its own folder cannot be told to the dynamic linker.
  std::optional<TemporaryFolder> link;
};

/// The program will record into `folder`; nothing without --io. An error if the library is not found, or the
/// program is one that nothing can be preloaded into.
Result<IoSetup> io_setup(const Call& call, const std::filesystem::path& folder);

/// In how many processes no I/O was recorded and why, as they left it in `folder`; removes these files.
std::vector<std::string> io_troubles(const std::filesystem::path& folder);

}  // namespace stepscope::cli
