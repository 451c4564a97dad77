// Several recordings on one time line: ranks of a job, and other profilers beside them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "merge/place.h"
#include "merge/source.h"

namespace stepscope::merge {

struct MergeOptions {
  unsigned threads = 0;   ///< 0: as many as the machine has
  bool all_runs = false;  ///< merge also files that are of another run than the others
  std::int64_t run = 0;   ///< of several runs of a job, see read::choose_run
  bool align = true;      ///< fit the ranks' clocks to their collectives; else they stay as recorded
  /// Stored bytes of the files, which are read twice: survey() is the first half, write_chrome() the second.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
  std::function<void(const std::string& activity)> activity;
};

struct Merged {
  std::vector<Source> sources;  ///< in the order of the files
  std::vector<std::string> notes;
  std::int64_t stored_bytes = 0;  ///< of all files
};

/// Reads every source once: its ids, its times, its rank; places them on one time line. Fails when a file
/// cannot be opened or holds no event. Execution traces and files of other runs are left out.
Result<Merged> survey(std::vector<std::string> files, const MergeOptions& options);

/// Reads every source again and writes one Chrome JSON document, source after source. Memory holds a block of
/// text per thread, whatever the files' size.
std::optional<Error> write_chrome(Merged& merged, const MergeOptions& options, bool gzip,
                                  const std::function<bool(std::string_view)>& put);

/// The same as Perfetto TrackEvents. Memory holds one source at a time, since slices of a track must nest and
/// are sorted for that.
std::optional<Error> write_perfetto(Merged& merged, const MergeOptions& options,
                                    const std::function<bool(std::string_view)>& put);

/// Why a merge cannot be written to a file of that name, a sentence; "" if it can.
std::string ending_refused(const std::string& output);
/// Why these files cannot be merged into `output`, a sentence; "" if they can.
std::string refused(const std::vector<std::string>& files, const std::string& output);

/// Surveys the files and writes them into `output`, whole or not at all; its ending chooses the format.
Result<Merged> merge(const std::vector<std::string>& files, const std::string& output,
                     const MergeOptions& options);

}  // namespace stepscope::merge
