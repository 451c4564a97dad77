// gzip, streaming, any number of members. A damaged member costs itself: reading goes on at the next one.
#pragma once

#include <memory>

#include "base/byte_source.h"

namespace stepscope {

/// Inflates `stored`. Faults of both ends are listed in the result.
std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored);

}  // namespace stepscope
