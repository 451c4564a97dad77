// Bytes from a file or standard input, gzip undone on the way. Streaming: nothing is held whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepscope {

/// A place where the bytes were damaged; reading went on behind it where that was possible.
struct ByteFault {
  std::int64_t offset;  ///< in the file as stored
  std::string reason;
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `size` bytes to `out`; 0 means the end. Never fails: faults end or skip, and are listed.
  virtual std::size_t read(char* out, std::size_t size) = 0;
  /// Bytes of the stored file consumed so far.
  virtual std::int64_t position() const = 0;

  std::int64_t stored_size = -1;  ///< of the file, -1 for pipes
  bool compressed = false;
  std::vector<ByteFault> faults;
};

/// Opens `path` ("-" is standard input) and looks at its first bytes for gzip.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The same over bytes in memory, which must outlive the source. For tests and fuzzing.
std::unique_ptr<ByteSource> memory_bytes(const char* data, std::size_t size);

}  // namespace stepscope
