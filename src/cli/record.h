// Runs other programs so that they record themselves.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/commands.h"

namespace stepscope::cli {

/// How a program ended: its exit code, or 128 + the signal that ended it, as in shells.
struct Ended {
  int code = 0;
  int signal = 0;
};

/// As one line of JSON.
std::string json_of(const std::map<std::string, std::string>& options);

/// Runs `command` and waits for it. Python programs in it, and those that they start, get `options` when they
/// import PyTorch; all get `environment`, as NAME=VALUE. Interrupts from the terminal go to the program only.
Result<Ended> run_recorded(const std::vector<std::string>& command,
                           const std::map<std::string, std::string>& options,
                           const std::vector<std::string>& environment = {});

/// The options that the flags of record and attach ask for.
std::map<std::string, std::string> recording_options(const Call& call, const std::filesystem::path& folder);
/// The folder of --output, or one named after this second; created if absent, and empty.
Result<std::filesystem::path> folder_for(const Call& call);
int report_on(const Call& call, std::vector<std::string> recordings);
/// Says where the recordings are.
void say_where(const std::filesystem::path& folder);
/// Whether the text is a whole number of 1 or more.
bool is_count(std::string_view text);

}  // namespace stepscope::cli
