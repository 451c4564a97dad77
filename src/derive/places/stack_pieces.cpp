#include "derive/places/stack_pieces.h"

#include <algorithm>
#include <string_view>

#include "derive/thread_role.h"

namespace stepscope::derive {

using timeline::Interval;
using timeline::Time;
using trace::EventTable;
using trace::kNoRow;
using trace::Row;

namespace {

/// Samples in a part of a sampled call: at least one.
std::int64_t samples_in(Time part, Time length, std::int64_t samples) {
  if (length <= 0) return 1;
  const double share = static_cast<double>(part) / static_cast<double>(length);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(share * static_cast<double>(samples) + 0.5));
}

/// Files of stepscope that call nothing of the program.
bool is_recorders_work(std::string_view frame) {
  constexpr std::string_view kFolder = "stepscope/profiler/";
  if (!frame.starts_with(kFolder)) return false;
  frame.remove_prefix(kFolder.size());
  for (const std::string_view file :
       {"_outside.py", "_gradients.py", "_recording.py", "_cycle.py", "_profile.py"})
    if (frame.starts_with(file)) return true;
  return false;
}

Column<StackPiece> pieces_on(const trace::Trace& trace, const trace::Rank& rank, const trace::Track& track,
                             bool samples, Interval window) {
  const EventTable& e = rank.events;
  const trace::ArgReader taken(trace, rank, "samples");
  Column<StackPiece> pieces;
  std::vector<Row> open;
  std::ptrdiff_t recording = 0;  // open frames of the recorder itself
  const auto of_recorder = [&](Row row) { return is_recorders_work(trace.text(e.name[row])); };
  const auto close = [&] {
    recording -= of_recorder(open.back());
    open.pop_back();
  };
  Time at = window.begin;
  const auto until = [&](Time time) {
    const Interval span{std::max(at, window.begin), std::min(time, window.end)};
    if (!open.empty() && recording == 0 && span.end > span.begin) {
      const Row row = open.back();
      pieces.push_back(
          {span, row, samples ? samples_in(span.length(), e.duration(row), taken.integer_or(row, 1)) : 0});
    }
    at = std::max(at, time);
  };
  for (Row row = track.begin; row < track.end; ++row) {
    if (e.kind[row] != trace::Kind::python) continue;
    while (!open.empty() && e.end[open.back()] <= e.start[row]) {
      until(e.end[open.back()]);
      close();
    }
    until(e.start[row]);
    open.push_back(row);
    recording += of_recorder(row);
  }
  while (!open.empty()) {
    until(e.end[open.back()]);
    close();
  }
  return pieces;
}

}  // namespace

Column<StackPiece> stack_pieces(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId thread,
                                Interval window) {
  const auto samples = samples_of(trace, rank, thread);
  return pieces_on(trace, rank, rank.tracks[samples.value_or(thread)], samples.has_value(), window);
}

Column<StackPiece> calls_on(const trace::Trace& trace, const trace::Rank& rank, trace::TrackId track,
                            Interval window) {
  return pieces_on(trace, rank, rank.tracks[track], false, window);
}

std::ptrdiff_t piece_during(const Column<StackPiece>& pieces, Interval call) {
  const auto next = std::upper_bound(pieces.begin(), pieces.end(), call.begin,
                                     [](Time t, const StackPiece& piece) { return t < piece.span.begin; });
  const std::ptrdiff_t after = next - pieces.begin();
  if (after > 0 && call.begin < pieces[static_cast<std::size_t>(after - 1)].span.end) {
    const StackPiece& open = pieces[static_cast<std::size_t>(after - 1)];
    if (open.samples == 0) return after - 1;
    const Time period = std::max<Time>(1, open.span.length() / open.samples);
    const Time taken = (call.begin - open.span.begin + period - 1) / period;  // before the call
    if (taken < open.samples && open.span.begin + taken * period < call.end) return after - 1;
  }
  return next != pieces.end() && next->samples > 0 && next->span.begin < call.end ? after : -1;
}

Time time_in(const StackPiece& piece, const timeline::MeasuredSet& set) {
  if (piece.samples == 0) return set.length_in(piece.span);
  std::int64_t inside = 0;
  for (std::int64_t i = 0; i < piece.samples; ++i)
    inside += set.set().contains(piece.span.begin + piece.span.length() * i / piece.samples);
  return piece.span.length() * inside / piece.samples;
}

}  // namespace stepscope::derive
