// Bytes from a file or standard input, gzip undone on the way. Streaming: nothing is held whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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
  std::vector<ByteFault> faults;  ///< the first few
  std::int64_t fault_count = 0;   ///< all of them

 protected:
  void add_fault(std::int64_t offset, std::string reason) {
    constexpr std::size_t kDescribed = 16;
    if (faults.size() < kDescribed) faults.push_back({offset, std::move(reason)});
    ++fault_count;
  }
  /// Takes over the faults of the source below.
  void take_faults(ByteSource& below) {
    for (ByteFault& fault : below.faults) add_fault(fault.offset, std::move(fault.reason));
    fault_count += below.fault_count - static_cast<std::int64_t>(below.faults.size());
    below.faults.clear();
    below.fault_count = 0;
  }
};

/// Opens `path` ("-" is standard input) and looks at its first bytes for gzip.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The same over bytes in memory, which must outlive the source. For tests and fuzzing.
std::unique_ptr<ByteSource> memory_bytes(const char* data, std::size_t size);

/// Up to `size` bytes that stand next in `source`; they will be read again.
std::string peek(std::unique_ptr<ByteSource>& source, std::size_t size);

}  // namespace stepscope
