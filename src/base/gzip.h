// gzip, in any number of members. Reading is streaming, and a damaged member costs itself: reading goes on at
// the next one. Members are independent, so threads make them and files are joined by writing one behind the
// other.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope {

/// Inflates `stored`. Faults of both ends are listed in the result.
std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> stored);

/// `text` as one complete gzip member, compressed for speed. Less than 4 GiB.
std::string gzip_member(std::string_view text);

}  // namespace stepscope
