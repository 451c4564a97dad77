#include "cli/inputs.h"

#include <algorithm>
#include <filesystem>

#include "read/files.h"

namespace stepscope::cli {

std::string inputs_misfit(const Call& call) {
  if (call.command->run == run_merge || call.command->run == run_attach || call.command->runs_program)
    return "";  // know their own
  std::vector<std::string> paths = call.words;
  for (const char* side : {"base", "new"})
    for (std::string& path : call.params.texts(side)) paths.push_back(std::move(path));
  if (std::count(paths.begin(), paths.end(), "-") > 1) return "-: standard input can be read only once";
  const auto files = read::files_of(paths, read::kReadable);
  if (!files) return "";
  const std::string output(call.params.text("output"));
  std::error_code absent;
  for (const std::string& file : *files)
    if (!output.empty() && std::filesystem::equivalent(output, file, absent))
      return output + ": is the trace itself and would be overwritten; choose another place with -o";
  if (call.command->run == run_diff || call.command->run == run_gate)
    return "";  // one may stand on both sides
  const std::string twice = read::given_twice(*files);
  return twice.empty() ? "" : twice + ": is given twice; each recording counts once";
}

}  // namespace stepscope::cli
