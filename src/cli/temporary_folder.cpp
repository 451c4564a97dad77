#include "cli/temporary_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stepscope::cli {

namespace fs = std::filesystem;

bool stays_whole(const std::string& path) {
  return path.find_first_of(" :$") == std::string::npos;  // $: the dynamic linker's $ORIGIN
}

fs::path scratch_folder() {
  std::error_code ignored;
  return fs::temp_directory_path(ignored) / fmt::format("stepscope-{}", ::getuid());
}

Result<TemporaryFolder> TemporaryFolder::make(const std::string& name) {
  std::error_code ignored;
  fs::path above = fs::temp_directory_path(ignored);
  if (!stays_whole(above.string())) above = "/tmp";
  std::string path = (above / (name + "-XXXXXX")).string();
  if (::mkdtemp(path.data()) == nullptr) return Error{std::strerror(errno), path};
  return TemporaryFolder(path);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace stepscope::cli
