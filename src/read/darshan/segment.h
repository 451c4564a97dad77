// One line of darshan-dxt-parser's output: a read or a write.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepscope::read {

struct DarshanSegment {
  bool mpi = false;     ///< a call of MPI-IO, not of POSIX
  bool writes = false;  ///< else it reads
  std::int64_t rank = 0;
  std::int64_t offset = -1;  ///< in the file; -1: not recorded
  std::int64_t length = 0;
  std::int64_t begin = 0, end = 0;  ///< ns since the job's start
  std::int64_t thread = -1;         ///< -1: not recorded
};

/// nullopt: the line is no whole segment. `threads`: the last column is the thread's id.
std::optional<DarshanSegment> darshan_segment(std::string_view line, bool threads);

/// A whole number of at most 18 digits; `otherwise` for anything else.
std::int64_t darshan_number(std::string_view text, std::int64_t otherwise);

/// "12", "12.0331" → ns; -1 for anything else.
std::int64_t darshan_seconds(std::string_view text);

}  // namespace stepscope::read
