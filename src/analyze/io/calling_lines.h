// Which of the program's own lines make calls, by what each thread's stack says meanwhile.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "derive/places/own_frames.h"
#include "derive/places/stack_pieces.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

class CallingLines {
 public:
  /// Only stacks in `window` are read.
  CallingLines(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval window)
      : trace_(trace),
        rank_(rank),
        window_(window),
        own_(trace, rank),
        has_stacks_(std::ranges::find(rank.events.kind, trace::Kind::python) != rank.events.kind.end()) {}

  /// The innermost line of the program that holds most of `calls`; kEmptyString without Python stacks.
  trace::StringId line(trace::TrackId thread, const timeline::IntervalSet& calls);
  std::string text(trace::StringId line) const { return std::string(trace_.text(line)); }
  /// When `line` is the thread's innermost line of the program.
  timeline::IntervalSet time_of(trace::TrackId thread, trace::StringId line);
  /// When the thread waits for others, see waits().
  timeline::IntervalSet waiting(trace::TrackId thread);

 private:
  const Column<derive::StackPiece>& pieces(trace::TrackId thread);
  trace::StringId own_line(trace::Row row);
  bool waits_in(trace::Row frame);

  const trace::Trace& trace_;
  const trace::Rank& rank_;
  const timeline::Interval window_;
  derive::OwnFrames own_;
  const bool has_stacks_;
  std::map<trace::TrackId, Column<derive::StackPiece>> pieces_;
};

}  // namespace stepscope::analyze
