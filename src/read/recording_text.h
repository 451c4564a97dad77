// A recording of stepscope's own as the text that the Kineto reader takes.
#pragma once

#include <memory>
#include <string>

#include "base/byte_source.h"

namespace stepscope::read {

/// Reads `recording` to its end, which is bounded by what it was allowed to hold, and gives its text piece by
/// piece, with that of the data loaders' workers whose recordings lie beside it at `path`. What is cut off or
/// unreadable is among the faults.
Result<std::unique_ptr<ByteSource>> recording_text(std::unique_ptr<ByteSource> recording,
                                                   const std::string& path);

/// What the file at `path` holds, of a recording its text.
Result<std::unique_ptr<ByteSource>> open_as_text(const std::string& path);

}  // namespace stepscope::read
