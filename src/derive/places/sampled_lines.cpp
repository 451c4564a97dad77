#include "derive/places/sampled_lines.h"

#include <algorithm>

#include "derive/places/short_operators.h"
#include "derive/thread_role.h"

namespace stepscope::derive {

using timeline::Interval;
using trace::kNoRow;
using trace::Row;

SampledLines::SampledLines(const trace::Trace& trace, const trace::Rank& rank)
    : trace_(trace),
      rank_(rank),
      shapes_(trace, rank, "Input Dims"),
      own_(trace, rank),
      threads_(rank.tracks.size()) {
  const std::vector<bool> sampled = sampled_tracks(trace, rank);
  has_samples_.resize(rank.tracks.size());
  if (std::find(sampled.begin(), sampled.end(), true) == sampled.end()) return;
  for (std::size_t thread = 0; thread < has_samples_.size(); ++thread)
    has_samples_[thread] = samples_of(trace, rank, static_cast<trace::TrackId>(thread)).has_value();
}

std::string_view SampledLines::own_line_at(const StackPiece& piece) {
  for (Row row = piece.frame; row != kNoRow; row = rank_.events.parent[row])
    if (own_(rank_.events.name[row])) return trace_.name(rank_, row);
  return {};
}

SampledLines::Thread& SampledLines::read(trace::TrackId thread) {
  Thread& of = threads_[thread];
  if (of.is_read) return of;
  of.is_read = true;
  const trace::EventTable& e = rank_.events;
  const trace::Track& samples = rank_.tracks[*samples_of(trace_, rank_, thread)];
  Interval whole{samples.begin == samples.end ? 0 : e.start[samples.begin], 0};
  for (Row row = samples.begin; row < samples.end; ++row) whole.end = std::max(whole.end, e.end[row]);
  of.pieces = stack_pieces(trace_, rank_, thread, whole);
  std::map<Call, std::map<std::string_view, std::int64_t>> seen;
  for (const Row row : outermost_operators(trace_, rank_, thread)) {
    const std::ptrdiff_t at = piece_during(of.pieces, {e.start[row], e.end[row]});
    if (at >= 0) ++seen[call_of(row)][own_line_at(of.pieces[static_cast<std::size_t>(at)])];
  }
  for (const auto& [call, lines] : seen) {
    std::int64_t all = 0;
    const auto* most = &*lines.begin();
    for (const auto& line : lines) {
      all += line.second;
      if (line.second > most->second) most = &line;
    }
    if (2 * most->second >= all) of.usual[call] = most->first;
  }
  return of;
}

std::string_view SampledLines::of(Row row) {
  const trace::EventTable& e = rank_.events;
  if (row == kNoRow) return {};
  const Row op = outermost(rank_, e.kind[row] == trace::Kind::op ? row : e.op[row]);
  if (op == kNoRow || !has_samples_[e.track[op]]) return {};
  Thread& thread = read(e.track[op]);
  const std::ptrdiff_t at = piece_during(thread.pieces, {e.start[op], e.end[op]});
  if (at >= 0) return own_line_at(thread.pieces[static_cast<std::size_t>(at)]);
  const auto usual = thread.usual.find(call_of(op));
  return usual == thread.usual.end() ? std::string_view{} : usual->second;
}

}  // namespace stepscope::derive
