// Which recordings lie below the paths that people give.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope::serve {

/// The files of one run as they are on disk.
struct Stamp {
  std::int64_t bytes = 0;
  std::int64_t modified = 0;  ///< Unix time of the newest, s
  std::string hash;           ///< 8 hex digits of the files' names, sizes and times
};
/// Nothing if a file is gone.
std::optional<Stamp> stamp_of(const std::vector<std::string>& files);

struct FoundRun {
  std::string name;                ///< path below what was given
  std::vector<std::string> files;  ///< sorted
  Stamp stamp;
};

/// Looks below paths, as often as asked. In a folder where a file says that it is one of several ranks of a
/// job, all files are one run; elsewhere each file is one. JSON that is no recording is left out, and so are
/// files that a link places outside of their folder.
class RunFinder {
 public:
  /// An Error if a path does not exist or is neither a file nor a folder.
  static Result<RunFinder> below(std::vector<std::string> paths);
  std::vector<FoundRun> find();

 private:
  explicit RunFinder(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  std::vector<FoundRun> below_folder(const std::string& folder);
  struct Kind {
    bool is_of_several, is_other;
  };
  Kind kind_of(const std::string& file);

  std::vector<std::string> paths_;
  std::map<std::string, Kind> kinds_;  // by a file's hash
};

}  // namespace stepscope::serve
