// Lines of the user's own program, for the places that a recording names. The names are untrusted.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/result.h"

namespace stepscope::serve {

/// Text files below one folder. No name leads out of it, by whatever links.
class SourceFiles {
 public:
  static Result<SourceFiles> below(const std::string& folder);
  SourceFiles(SourceFiles&& other) noexcept;
  SourceFiles& operator=(SourceFiles&&) = delete;
  ~SourceFiles();

  /// Lines first … last, counted from 1, of a file: its path below the folder, or an absolute one. Throws a
  /// Refusal if it cannot be shown.
  std::string lines(const std::string& file, std::size_t first, std::size_t last) const;

 private:
  SourceFiles(std::string folder, int descriptor) : folder_(std::move(folder)), descriptor_(descriptor) {}

  std::string folder_;  ///< without links
  int descriptor_;
};

}  // namespace stepscope::serve
