// The segments of a recording: which thread fills which part of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "collect/recorder.h"
#include "collect/undisturbed.h"

namespace stepscope::collect {

/// A recording's file, open while this object lives.
class OpenFile {
 public:
  explicit OpenFile(const Recorder& recorder);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();
  /// -1: it is gone.
  int descriptor() const { return file_; }

 private:
  int file_;
  bool is_own_;
};

/// Held while a segment is claimed, and while the recording is closed.
extern std::mutex claims;

/// Holds `claims`, undisturbed: a signal handler on this thread might record and wait for `claims`.
class Claim {
  const Undisturbed undisturbed_;
  const std::scoped_lock<std::mutex> lock_{claims};
};

inline constexpr std::uint32_t kSegmentUnits = record::kSegmentBytes / record::kUnitBytes;

/// False: the program's limit of file sizes (RLIMIT_FSIZE) is less, so that growing the file would raise
/// SIGXFSZ.
bool may_grow_to(std::size_t bytes);

/// Bytes of a file with that many units.
std::size_t bytes_of(std::uint32_t units);

/// The last units of a large file are for metadata: they are told at the end, when ops may have filled the
/// rest. `units`: of the whole file.
std::uint32_t reserved_of(std::uint32_t units);

/// Gives up the thread's segment. Another thread may fill its end or, in a recording that keeps the newest
/// events, replace it. `claims` must be held.
void leave_segment(Thread& thread);

/// Prepares for a recording of so many units. False: out of memory. `claims` must be held.
bool prepare_segments(bool keeps_newest, std::uint32_t units);

/// Forgets the segments that were left. `claims` must be held.
void forget_segments();

/// Room for one event in pages or in a new segment, but in none of the last `reserved` units. False: there is
/// none; one record is counted as dropped.
bool more_room(Thread& thread, std::uint32_t bytes, std::uint32_t reserved);

}  // namespace stepscope::collect
