// Bytes from a file or standard input, gzip undone on the way. Streaming: nothing is held whole.
#pragma once

#include <algorithm>
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
  std::int64_t bytes = -1;  ///< that were lost; -1: not known
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
  std::int64_t lost_bytes = 0;    ///< as far as they are known

 protected:
  static constexpr std::size_t kDescribed = 16;
  void add_fault(std::int64_t offset, std::string reason, std::int64_t bytes = -1) {
    if (faults.size() < kDescribed) faults.push_back({offset, std::move(reason), bytes});
    ++fault_count;
    lost_bytes += std::max<std::int64_t>(0, bytes);
  }
  /// Takes over the faults of the source below.
  void take_faults(ByteSource& below) {
    for (ByteFault& fault : below.faults)
      if (faults.size() < kDescribed) faults.push_back(std::move(fault));
    fault_count += below.fault_count;
    lost_bytes += below.lost_bytes;
    below.faults.clear();
    below.fault_count = below.lost_bytes = 0;
  }
};

/// Opens `path` ("-" is standard input) and looks at its first bytes for gzip.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The same over bytes in memory, which must outlive the source. For tests and fuzzing.
std::unique_ptr<ByteSource> memory_bytes(const char* data, std::size_t size);

/// Up to `size` bytes that stand next in `source`; they will be read again.
std::string peek(std::unique_ptr<ByteSource>& source, std::size_t size);

}  // namespace stepscope
