// The program's line that made a call, from samples of the Python stack.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "derive/places/own_frames.h"
#include "derive/places/stack_pieces.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// Few samples fall into a short operator. So its line is that of the samples in it, else the line that at
/// least half of the samples in the thread's outermost operators of that name and those shapes show. Holds
/// references to the trace and the rank.
class SampledLines {
 public:
  SampledLines(const trace::Trace& trace, const trace::Rank& rank);

  /// "file(line): function" of the operator around `row`, or of `row` itself if it is an operator; "" without
  /// samples, or if they show none. A thread's first question costs O(n) in its rows, others O(log n).
  std::string_view of(trace::Row row);

 private:
  using Call = std::pair<trace::StringId, trace::StringId>;  // an operator's name and shapes
  struct Thread {
    bool is_read = false;
    Column<StackPiece> pieces;
    std::map<Call, std::string_view> usual;
  };

  Call call_of(trace::Row op) const { return {rank_.events.name[op], shapes_.id(op)}; }
  Thread& read(trace::TrackId thread);
  std::string_view own_line_at(const StackPiece& piece);

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  trace::ArgReader shapes_;
  OwnFrames own_;
  std::vector<bool> has_samples_;  // by track
  std::vector<Thread> threads_;    // by track
};

}  // namespace stepscope::derive
