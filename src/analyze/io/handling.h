// When a thread handles a file: its calls, and what it does between them, as far as that is for the file.
#pragma once

#include <map>
#include <vector>

#include "analyze/io/io_facts.h"

namespace stepscope::analyze {

/// Calls of one thread on one file.
struct Handled {
  Column<timeline::Interval> spans;  ///< calls and gaps between them
  std::int64_t written = 0;          ///< bytes, from opening to closing
  std::size_t first = 0, last = 0;   ///< calls [first, last)
};

/// A gap between two calls counts if no operator begins in it on the thread, and it is at most this long, ns:
inline constexpr std::int64_t kParsingGap =
    1'000'000'000;  ///< from opening to closing: what was read is parsed
inline constexpr std::int64_t kFormattingGap = 20'000'000;  ///< the same, before or after a write
inline constexpr std::int64_t kReadingGap = 1'000'000;      ///< between two reads of a file that stays open

class Handling {
 public:
  explicit Handling(const trace::Rank& rank) : rank_(rank) {}
  /// One element from each opening to its closing, and one for calls on a file that stays open. `calls`: of
  /// one thread on one file, by start.
  std::vector<Handled> of(const std::vector<const derive::IoCall*>& calls);

 private:
  bool operator_begins(trace::TrackId thread, timeline::Interval gap);

  const trace::Rank& rank_;
  std::map<trace::TrackId, Column<timeline::Time>> operators_;  ///< their begins
};

}  // namespace stepscope::analyze
