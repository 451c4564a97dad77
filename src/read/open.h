// Files in, one sealed Trace out. open() sniffs formats, reads ranks in parallel and derives.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace stepscope::read {

struct OpenOptions {
  unsigned threads = 0;  ///< 0: as many as the machine has
  /// Called from any thread now and then with bytes read and bytes in all (-1 when unknown).
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// What files that are read alone end in, and what those end in that can be merged.
inline constexpr std::string_view kReadable[] = {".json", ".json.gz"};
inline constexpr std::string_view kMergeable[] = {".json", ".json.gz", ".pfw", ".pfw.gz"};

/// The files named, directories replaced by the files below them with one of these endings, in path order.
Result<std::vector<std::string>> files_of(std::span<const std::string> paths,
                                          std::span<const std::string_view> endings);

/// Opens files, directories (searched for trace files) and "-" (standard input) as the ranks of one Trace.
/// Fails only when nothing could be read; damage is counted in each rank's notes.
Result<trace::Trace> open(std::span<const std::string> paths, const OpenOptions& options = {});

}  // namespace stepscope::read
