// A recording as the files that torch.profiler would have written: Kineto's JSON and the execution trace,
// gzip where the name says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope::write {

struct KinetoWritten {
  std::int64_t events = 0;         ///< ops, ranges and memory records
  std::vector<std::string> notes;  ///< what was lost or could not be read
};

/// `recording` is the path of a .stepscope file, which may still grow; `output` ends in .json or .json.gz.
/// `metadata`: `key=JSON` on top of what the recording holds.
Result<KinetoWritten> kineto(const std::string& recording, const std::string& output,
                             const std::vector<std::string>& metadata = {});

/// `process_groups`: JSON of torch.distributed's, or "".
std::optional<Error> execution_trace(const std::string& recording, const std::string& output,
                                     const std::string& process_groups);

}  // namespace stepscope::write
