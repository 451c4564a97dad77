// I/O records: calls of the file system, as the program made them.
#pragma once

#include "record/format.h"
#include "record/io/functions.h"

namespace stepscope::record {

/// The name of a file is a `Text` of Type::io_path, once or more. Record::value: the file's number in the
/// recording, from 1. Other segments may use it too.

inline constexpr std::int64_t kUnknownOffset = -1;

/// Record::value: IoFunction | errno << 16; errno is 0 after success.
struct IoCall : Record {
  std::uint32_t begin;     ///< ticks after the last clock record before it in the segment
  std::uint32_t duration;  ///< ticks
  std::uint32_t file;      ///< number; 0: not known
  std::int32_t descriptor;
  std::int64_t offset;  ///< in the file, where the call began; kUnknownOffset
  std::uint32_t size;   ///< bytes asked for
  std::int32_t result;  ///< as returned; of stdio calls: bytes
};
static_assert(sizeof(IoCall) == 40);

/// A call with more to say. Record::value as in IoCall.
struct LongIoCall : Record {
  std::uint64_t begin, end;  ///< ticks
  std::uint32_t file;
  std::int32_t descriptor;
  std::int64_t offset;
  std::uint64_t size;
  std::int64_t result;
  std::uint32_t other;   ///< number of a second file: rename's new name, what sendfile writes to; 0: none
  std::uint32_t detail;  ///< open: flags; lseek: whence; mmap: protection; readv: number of buffers
};
static_assert(sizeof(LongIoCall) == 64);

}  // namespace stepscope::record
