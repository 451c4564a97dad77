// Files that the main process writes, and how long its main thread waits for them.
#include <algorithm>
#include <map>
#include <utility>

#include "analyze/io/calling_lines.h"
#include "analyze/io/io.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::IoCall;
using report::kNoInt;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::MeasuredSet;

/// The same without gaps up to kSavingGap.
IntervalSet joined(const IntervalSet& calls) {
  Column<Interval> spans;
  for (const Interval& part : calls.parts())
    if (!spans.empty() && part.begin - spans.back().end <= kSavingGap)
      spans.back().end = part.end;
    else
      spans.push_back(part);
  return IntervalSet::of(std::move(spans));
}

}  // namespace

void add_saved_files(Io& of, const trace::Trace& trace, const trace::Rank& rank, const RankIo& io) {
  const trace::EventTable& e = rank.events;
  struct Episode {
    SavedFile saved{};
    Column<Interval> spans, syncs;
    std::vector<const IoCall*> flushes;  // writes and syncs
    bool open = false;
  };
  struct Flushes {
    FlushedFile file{};
    Column<Interval> spans;
  };
  std::map<std::pair<trace::StringId, trace::TrackId>, Flushes> flushed;
  CallingLines lines(trace, rank, io.window);
  std::map<trace::TrackId, Column<Interval>> saving;
  std::map<std::pair<trace::StringId, trace::TrackId>, Episode> episodes;
  const MeasuredSet busy(io.has_device ? io.compute : IntervalSet{});
  const std::int64_t origin = origin_of(rank);
  const auto first = std::ssize(of.saved);
  const auto close = [&](trace::StringId file, trace::TrackId thread, Episode& episode) {
    if (episode.saved.written >= kSavedBytes) {
      const IntervalSet calls = IntervalSet::of(std::move(episode.spans));
      const IntervalSet stall =
          episode.saved.written >= episode.saved.calls * kSmallBytes / 2 ? joined(calls) : calls;
      episode.saved.io = calls.length();
      episode.saved.file = trace.text(file);
      episode.saved.stall = stall.length();
      for (const Interval& part : stall.parts()) saving[thread].push_back(part);
      episode.saved.sync = IntervalSet::of(std::move(episode.syncs)).length();
      episode.saved.exposed = kNoInt;
      if (io.has_device) episode.saved.exposed = subtract(stall, busy.set()).length();
      of.saved.push_back(std::move(episode.saved));
    } else if (!episode.flushes.empty()) {
      Flushes& sum = flushed[{file, thread}];
      for (const IoCall* call : episode.flushes) {
        const Interval span = span_of(rank, *call);
        sum.file.writes += call->kind == derive::IoKind::write;
        if (call->kind == derive::IoKind::write) report::add_to(sum.file.written, call->bytes);
        const std::string_view name = trace.name(rank, call->row);
        sum.file.flushes += call->kind == derive::IoKind::sync && name != "fflush";
        sum.spans.push_back(span);
        if (span.length() > sum.file.longest.length) sum.file.longest = {span.begin - origin, span.length()};
      }
    }
    episode = {};
  };
  for (const IoCall& call : io.calls) {
    const trace::TrackId track = e.track[call.row];
    if (call.file == trace::kEmptyString || rank.tracks[track].pid != io.main_process) continue;
    Episode& episode = episodes[{call.file, track}];
    if (call.kind == derive::IoKind::open) close(call.file, track, episode);
    if (!episode.open)
      episode.saved = {.rank = rank.rank,
                       .step = step_number(rank, call.row),
                       .start = e.start[call.row] - origin,
                       .file = {},
                       .written = 0,
                       .calls = 0,
                       .stall = 0,
                       .io = 0,
                       .sync = 0,
                       .exposed = kNoInt};
    episode.open = true;
    ++episode.saved.calls;
    if (call.kind == derive::IoKind::write) report::add_to(episode.saved.written, call.bytes);
    episode.spans.push_back(span_of(rank, call));
    if (call.kind == derive::IoKind::sync) episode.syncs.push_back(span_of(rank, call));
    if (call.kind == derive::IoKind::sync || call.kind == derive::IoKind::write)
      episode.flushes.push_back(&call);
    if (call.kind == derive::IoKind::close) close(call.file, track, episode);
  }
  for (auto& [key, episode] : episodes) close(key.first, key.second, episode);
  timeline::Time most = 0;
  for (auto& [thread, spans] : saving) {
    const IntervalSet all = IntervalSet::of(std::move(spans));
    if (all.length() <= std::exchange(most, std::max(most, all.length()))) continue;
    const std::string line = lines.text(lines.line(thread, all));
    for (auto saved = of.saved.begin() + first; saved != of.saved.end(); ++saved) saved->line = line;
  }
  const auto first_flushed = std::ssize(of.flushed);
  for (auto& [key, sum] : flushed) {
    const IntervalSet stall = IntervalSet::of(std::move(sum.spans));
    sum.file.rank = rank.rank;
    sum.file.file = trace.text(key.first);
    sum.file.line = lines.text(lines.line(key.second, stall));
    sum.file.stall = stall.length_in(io.window);
    if (io.has_device) sum.file.exposed = subtract(stall, busy.set()).length_in(io.window);
    of.flushed.push_back(std::move(sum.file));
  }
  std::stable_sort(of.flushed.begin() + first_flushed, of.flushed.end(),
                   [](const FlushedFile& a, const FlushedFile& b) { return a.stall > b.stall; });
  std::stable_sort(of.saved.begin() + first, of.saved.end(),
                   [](const SavedFile& a, const SavedFile& b) { return a.start < b.start; });
}

}  // namespace stepscope::analyze
