// Files in, one sealed Trace out. open() sniffs formats, reads ranks in parallel and derives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "trace/trace.h"

namespace stepscope::read {

struct OpenOptions {
  unsigned threads = 0;           ///< 0: as many as the machine has
  bool companions_alone = false;  ///< execution traces are enough, without a rank
  std::int64_t run = 0;           ///< of several runs of a job, see choose_run()
  /// The rank of each file, where the caller knows: none is then left out as another run. Empty: as the files
  /// say.
  std::map<std::string, std::int64_t> ranks{};
  /// Called from any thread now and then, with bytes read and total bytes (-1 when unknown).
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

/// Opens files, directories (searched for trace files) and "-" (standard input) as the ranks of one Trace.
/// Execution traces among them add what the ranks' ops lack.
/// Fails only when nothing could be read; damage is counted in each rank's notes.
Result<trace::Trace> open(std::span<const std::string> paths, const OpenOptions& options = {});

}  // namespace stepscope::read
