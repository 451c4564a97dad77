// Bytes from a file or standard input, decompressed if gzip or zstd. Streaming: the file is never held whole.
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

/// A place where the bytes were damaged. Reading continued after it if possible.
struct ByteFault {
  std::int64_t offset;  ///< in the file as stored
  std::string reason;
  std::int64_t bytes = -1;  ///< number of lost bytes; -1: not known
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Writes up to `size` bytes to `out`; 0 means the end. Never fails: it skips or stops at a fault, and
  /// lists it.
  virtual std::size_t read(char* out, std::size_t size) = 0;
  /// Bytes of the stored file consumed so far.
  virtual std::int64_t position() const = 0;

  std::int64_t stored_size = -1;  ///< of the file, -1 for pipes
  bool compressed = false;
  bool reopens = false;           ///< its path gives the same bytes when it is opened again
  std::vector<ByteFault> faults;  ///< the first few
  std::int64_t fault_count = 0;   ///< number of all faults
  std::int64_t lost_bytes = 0;    ///< sum over the faults with a known size

 protected:
  static constexpr std::size_t kDescribed = 16;
  void add_fault(std::int64_t offset, std::string reason, std::int64_t bytes = -1) {
    if (faults.size() < kDescribed) faults.push_back({offset, std::move(reason), bytes});
    ++fault_count;
    lost_bytes += std::max<std::int64_t>(0, bytes);
  }
  /// Moves the faults of the underlying source to this one.
  void take_faults(ByteSource& below) {
    for (ByteFault& fault : below.faults)
      if (faults.size() < kDescribed) faults.push_back(std::move(fault));
    fault_count += below.fault_count;
    lost_bytes += below.lost_bytes;
    below.faults.clear();
    below.fault_count = below.lost_bytes = 0;
  }
};

/// Opens `path` ("-" is standard input); detects gzip and zstd by its first bytes.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The same over bytes in memory, which must outlive the source. For tests and fuzzing.
std::unique_ptr<ByteSource> memory_bytes(const char* data, std::size_t size);

/// The next bytes of `source`, up to `size`, without consuming them.
std::string peek(std::unique_ptr<ByteSource>& source, std::size_t size);

}  // namespace stepscope
