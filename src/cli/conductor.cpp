#include "cli/conductor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/present.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

/// As `python -m MODULE`, but without the working folder on its path, which may hold any module.
constexpr const char* kConductor =
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; "
    "from {}.__main__ import main; sys.exit(main(sys.argv[1:]))";

bool is_python(const fs::path& path) { return path.filename().string().starts_with("python"); }

/// The file that a shell would start.
fs::path found_on_path(const std::string& word) {
  const char* variable = std::getenv("PATH");
  if (word.find('/') != std::string::npos || variable == nullptr) return word;
  std::string_view folders(variable);
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    fs::path file = fs::path(folders.substr(0, colon)) / word;
    if (::access(file.c_str(), X_OK) == 0) return file;
    folders = colon == std::string_view::npos ? "" : folders.substr(colon + 1);
  }
  return word;
}

/// The Python that runs the program: named in the command, or in the first line of a script such as torchrun.
std::string python_of(const std::string& program) {
  if (is_python(program)) return program;
  std::ifstream script(found_on_path(program));
  std::string line;
  if (std::getline(script, line) && line.starts_with("#!")) {
    const std::string interpreter = line.substr(2, line.find(' ') - 2);
    if (is_python(interpreter)) return interpreter;
  }
  return "python3";
}

}  // namespace

int run_conductor(std::string_view module, const std::vector<std::string>& options, const Call& call) {
  std::vector<std::string> words = {python_of(call.program[0]), "-c",
                                    fmt::format(fmt::runtime(kConductor), module)};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), call.program.begin(), call.program.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return fail(Error{std::string(std::strerror(errno)) + ", so nothing was started", words[0]});
}

}  // namespace stepscope::cli
