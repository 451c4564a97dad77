// The recordings of a data loader's workers, which lie beside that of the process that they work for.
#pragma once

#include <string>
#include <vector>

#include "record/recording_file.h"

namespace stepscope::record {

struct Workers {
  std::vector<RecordingFile> files;

  std::vector<const Recording*> recordings() const;
  /// What was lost of them, as sentences.
  std::vector<std::string> notes() const;
};

/// Those beside the recording at `path` that say that they are of its process, by name. Their times are the
/// recording's.
Workers workers_of(const std::string& path, const Recording& recording);

/// Whether the file is a worker's recording.
bool is_workers(const std::string& path);

/// Whether the file is a later cycle of a profiler whose first one lies beside it: run.2.stepscope of
/// run.stepscope, of the same process.
bool is_later_cycle(const std::string& path);

}  // namespace stepscope::record
