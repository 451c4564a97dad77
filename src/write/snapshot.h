// A memory snapshot as a pickle that PyTorch's own tools read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace stepscope::write {

/// Which events of a device: those behind `since` and up to `until`, numbers of events. The segments and
/// blocks are then those after `until`. Without either, all events and the final state.
struct SnapshotWindow {
  std::optional<std::int64_t> since{}, until{};
};

/// Writes the rank's snapshot as torch.cuda.memory._dump_snapshot() would, in pickle protocol 4; `path` "" or
/// "-": standard output. `windows` is by device, or empty. Left behind: keys of frames beside name, file and
/// line.
std::optional<Error> export_snapshot(const trace::Trace& trace, const trace::Rank& rank,
                                     const std::vector<SnapshotWindow>& windows, const std::string& path);

}  // namespace stepscope::write
