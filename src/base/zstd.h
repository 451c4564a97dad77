// Zstandard, in any number of frames. Reading streams.
#pragma once

#include <memory>

#include "base/byte_source.h"

namespace stepscope {

/// Decompresses `stored`. The result lists the faults of `stored` and of the decompression, and ends at the
/// first damaged byte.
std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> stored);

}  // namespace stepscope
