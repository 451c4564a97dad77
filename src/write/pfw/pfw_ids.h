// The numbers of a .pfw: hashes of texts, and processes and threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trace/trace.h"

namespace stepscope::write {

/// Hashes of texts. Each is of one text only in this file, and almost always the same in another file.
class PfwHashes {
 public:
  /// The text's hash, and whether it was asked for the first time.
  std::pair<std::uint32_t, bool> of(std::string_view text);

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
  std::unordered_set<std::uint32_t> taken_;
};

struct PfwLane {
  std::int64_t pid, tid;
};

/// Processes and threads keep their numbers. Those that are texts, and processes whose number another rank
/// has, get new ones.
class PfwLanes {
 public:
  explicit PfwLanes(const trace::Trace& trace);
  PfwLane of(const trace::Rank& rank, trace::TrackId track);
  /// Processes with a new number.
  std::int64_t renumbered() const { return renumbered_; }

 private:
  using Process = std::pair<const trace::Rank*, std::string>;
  std::map<Process, std::int64_t> pids_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> tids_;
  std::unordered_set<std::int64_t> taken_;
  std::int64_t next_ = 1, renumbered_ = 0;  ///< `next_`: above all numbers of the trace
};

}  // namespace stepscope::write
