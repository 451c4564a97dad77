// Folders in the system's one for temporary files.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace stepscope::cli {

/// Removed with this object, and what is in it. Its path has none of the characters at which PYTHONPATH and
/// LD_PRELOAD are split.
class TemporaryFolder {
 public:
  /// `name` is the first part of its name.
  static Result<TemporaryFolder> make(const std::string& name);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // "": moved away
};

/// Where recorded programs of this user keep files of stepscope: scratch() of stepscope.profiler.
std::filesystem::path scratch_folder();

/// Whether the path stays one in PYTHONPATH and LD_PRELOAD.
bool stays_whole(const std::string& path);

}  // namespace stepscope::cli
