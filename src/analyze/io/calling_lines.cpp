#include "analyze/io/calling_lines.h"

#include <algorithm>

#include "analyze/host/worker_lines.h"

namespace stepscope::analyze {

using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;
using timeline::Time;
using trace::kNoRow;
using trace::Row;

const Column<derive::StackPiece>& CallingLines::pieces(trace::TrackId thread) {
  const auto [found, is_new] = pieces_.try_emplace(thread);
  if (is_new) found->second = derive::stack_pieces(trace_, rank_, thread, window_);
  return found->second;
}

trace::StringId CallingLines::own_line(Row row) {
  for (; row != kNoRow; row = rank_.events.parent[row])
    if (rank_.events.kind[row] == trace::Kind::python && own_(rank_.events.name[row]))
      return rank_.events.name[row];
  return trace::kEmptyString;
}

trace::StringId CallingLines::line(trace::TrackId thread, const IntervalSet& calls) {
  if (calls.empty() || !has_stacks_) return trace::kEmptyString;
  const Column<derive::StackPiece>& all = pieces(thread);
  const MeasuredSet set(calls);
  const Interval hull{calls.parts().front().begin, calls.parts().back().end};
  std::map<trace::StringId, Time> lines;
  auto at =
      std::lower_bound(all.begin(), all.end(), hull.begin,
                       [](const derive::StackPiece& piece, Time time) { return piece.span.end < time; });
  for (; at != all.end() && at->span.begin < hull.end; ++at)
    if (const Time time = derive::time_in(*at, set); time > 0) lines[own_line(at->frame)] += time;
  lines.erase(trace::kEmptyString);
  const auto most = std::max_element(lines.begin(), lines.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == lines.end() ? trace::kEmptyString : most->first;
}

IntervalSet CallingLines::time_of(trace::TrackId thread, trace::StringId line) {
  Column<Interval> spans;
  if (line != trace::kEmptyString)
    for (const derive::StackPiece& piece : pieces(thread))
      if (own_line(piece.frame) == line) spans.push_back(piece.span);
  return IntervalSet::of(std::move(spans));
}

bool CallingLines::waits_in(Row frame) {
  const trace::StringId name = rank_.events.name[frame];
  const std::string_view text = trace_.text(name);
  return own_(name) ? waits("", own_.text(text)) : waits(text, "");
}

IntervalSet CallingLines::waiting(trace::TrackId thread) {
  Column<Interval> spans;
  if (!has_stacks_) return {};
  for (const derive::StackPiece& piece : pieces(thread))
    if (waits_in(piece.frame)) spans.push_back(piece.span);
  return IntervalSet::of(std::move(spans));
}

}  // namespace stepscope::analyze
