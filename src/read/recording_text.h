// Turns a recording of stepscope's own into the text that the Kineto reader takes.
#pragma once

#include <memory>
#include <string>

#include "base/byte_source.h"

namespace stepscope::read {

/// Reads all of `recording` (at most 8 GiB) and returns its text piece by piece, with the recordings of data
/// loader workers that lie beside it at `path`. Parts that are cut off or unreadable are among the faults.
Result<std::unique_ptr<ByteSource>> recording_text(std::unique_ptr<ByteSource> recording,
                                                   const std::string& path);

/// The contents of the file at `path`; of a recording, its text.
Result<std::unique_ptr<ByteSource>> open_as_text(const std::string& path);

}  // namespace stepscope::read
