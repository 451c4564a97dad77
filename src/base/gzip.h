// gzip, in any number of members. Reading streams; after a damaged member it continues at the next member.
// Members are independent, so threads compress them in parallel, and files are joined by concatenation.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope {

/// Inflates `stored`. The result lists the faults of `stored` and of the decompression.
std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored);

/// `text` as one complete gzip member, compressed for speed. Less than 4 GiB.
std::string gzip_member(std::string_view text);

}  // namespace stepscope
