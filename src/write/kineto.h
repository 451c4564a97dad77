// A recording as the files that torch.profiler would have written: Kineto's JSON and the execution trace.
// They are compressed if the name ends in .gz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope::write {

struct KinetoWritten {
  std::int64_t events = 0;         ///< ops, ranges and memory records
  std::vector<std::string> notes;  ///< losses and what could not be read, as sentences
};

/// `recording` is the path of a .stepscope file, which may still grow; `output` ends in .json or .json.gz.
/// `metadata`: `key=JSON`; overrides the recording's value of the same key.
Result<KinetoWritten> kineto(const std::string& recording, const std::string& output,
                             const std::vector<std::string>& metadata = {});

/// `process_groups`: those of torch.distributed as JSON, or "".
std::optional<Error> execution_trace(const std::string& recording, const std::string& output,
                                     const std::string& process_groups);

}  // namespace stepscope::write
