// The calls of the file system in a rank, whoever recorded them, in one form.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

enum class IoKind : std::uint8_t {
  read,
  write,
  open,
  close,
  seek,
  sync,    ///< fsync and its like, fflush
  stat,    ///< asks about a file: stat, access, readlink
  list,    ///< directories
  change,  ///< names and properties: rename, unlink, mkdir, chmod, truncate
  map,     ///< mmap of a file
  lock,    ///< flock, lockf, and fcntl that waits for a lock
  other
};
inline constexpr int kIoKinds = 12;
std::string_view name_of(IoKind kind);

/// True for calls that move no bytes and ask the file system about names.
constexpr bool is_metadata(IoKind kind) {
  return kind == IoKind::open || kind == IoKind::close || kind == IoKind::stat || kind == IoKind::list ||
         kind == IoKind::change;
}

/// The kind of a function by its name in libc: "__pread64_chk" is a read.
IoKind io_kind(std::string_view function);
/// Its name without the affixes that libc gives to variants: "pread".
std::string_view plain_name(std::string_view function);
/// Whether it works on a FILE.
bool is_stdio(std::string_view function);

struct IoCall {
  trace::Row row;
  IoKind kind;
  trace::StringId file;  ///< its path; kEmptyString: not recorded
  std::int64_t offset;   ///< in the file; -1: not recorded
  std::int64_t bytes;    ///< that were moved; of requests that the kernel answers later: that were asked for
  std::int64_t descriptor;  ///< -1: not recorded
  bool failed;
  trace::StringId to;  ///< of a copy, a read: the file that it writes the bytes to; kEmptyString: none
};

/// In row order: by thread, then by start. O(n).
std::vector<IoCall> io_calls(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
