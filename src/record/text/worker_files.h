// Recordings that belong to another one beside them: those of a data loader's workers, and those of file I/O,
// which every process writes for itself.
#pragma once

#include <string>
#include <vector>

#include "record/recording_file.h"

namespace stepscope::record {

struct Workers {
  std::vector<RecordingFile> files;

  std::vector<const Recording*> recordings() const;
  /// Losses in the files, as sentences.
  std::vector<std::string> notes() const;
};

/// The worker recordings beside `path` whose parent is the process of `recording`, sorted by name, then the
/// I/O recordings of these processes and of those that they started. If `path` is an I/O recording itself,
/// all others. Their times are on `recording`'s time line.
Workers workers_of(const std::string& path, const Recording& recording);

/// Whether the file is read with another one: a worker's recording, or one of I/O that is not the first of a
/// folder without other recordings.
bool is_workers(const std::string& path);

/// Whether the file is a later cycle of a profiler whose first file is beside it: run.2.stepscope beside
/// run.stepscope, both of one process.
bool is_later_cycle(const std::string& path);

}  // namespace stepscope::record
