// What `strace -f -ttt -T -o FILE` writes, as Kineto's JSON: a call on a file becomes an event of the
// category "posix_call".
#pragma once

#include <memory>
#include <string_view>

#include "base/byte_source.h"

namespace stepscope::read {

/// Whether the first line with a time is a call of strace's.
bool is_strace(std::string_view head);

/// The JSON of the calls on files, line by line. Other system calls are left out. A line that is no call is a
/// fault.
std::unique_ptr<ByteSource> strace_text(std::unique_ptr<ByteSource> file);

}  // namespace stepscope::read
