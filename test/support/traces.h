// The trace files that tests read: shipped ones, and recordings of real devices, which are no part of the
// project.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace stepscope::test {

/// Paths of the .json.gz files below a folder of the checkout's root; none if it is absent.
inline std::vector<std::string> traces_below(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  const std::filesystem::path root = std::filesystem::path(STEPSCOPE_ROOT) / folder;
  for (std::filesystem::recursive_directory_iterator it(root, error), end; it != end && !error;
       it.increment(error))
    if (it->path().string().ends_with(".json.gz")) paths.push_back(it->path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Our own recordings, and generated ones.
inline std::vector<std::string> shipped_traces() {
  std::vector<std::string> paths = traces_below("examples/samples");
  for (const std::string& path : traces_below("test/data")) paths.push_back(path);
  return paths;
}

/// Recordings of real devices; empty if they are absent.
inline std::vector<std::string> recorded_traces() { return traces_below("../shared/traces"); }

}  // namespace stepscope::test
