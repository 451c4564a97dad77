// Pipes that can be opened again. A pipe gives its bytes once, but a path is opened several times: to
// recognise the format, to read, and for a second pass.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace stepscope {

/// While one of these exists, open_bytes() gives a pipe's bytes from their beginning each time: an unlinked
/// temporary file keeps what was read, or memory its first part where no file can be made. Covers standard
/// input, named pipes and `<(command)`.
class KeepPipes {
 public:
  KeepPipes();
  KeepPipes(const KeepPipes&) : KeepPipes() {}
  KeepPipes& operator=(const KeepPipes&) { return *this; }
  ~KeepPipes();
};

/// The stored bytes of the pipe at `path`. Nothing if `path` is no pipe, or no KeepPipes exists.
std::optional<Result<std::unique_ptr<ByteSource>>> open_kept_pipe(const std::string& path);

}  // namespace stepscope
