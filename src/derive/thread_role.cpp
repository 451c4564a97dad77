#include "derive/thread_role.h"

#include "derive/kernel_class.h"
#include "trace/asked_once.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::kNoRow;
using trace::Row;
using trace::TrackId;

std::string_view name_of(ThreadRole role) {
  constexpr std::string_view kNames[] = {"main thread", "backward thread", "other threads", ""};
  return kNames[static_cast<std::size_t>(role)];
}

std::vector<bool> sampled_tracks(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  const trace::ArgReader sampled(trace, rank, "sampled");
  std::vector<bool> is_sampled(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    if (rank.tracks[t].side != trace::Track::Side::host) continue;
    Row row = rank.tracks[t].begin;
    while (row < rank.tracks[t].end && e.kind[row] != trace::Kind::python) ++row;
    is_sampled[t] = row < rank.tracks[t].end && sampled.has(row);
  }
  return is_sampled;
}

std::vector<ThreadRole> thread_roles(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::vector<ThreadRole> roles(rank.tracks.size(), ThreadRole::none);
  std::vector<std::int64_t> recorded(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    if (rank.tracks[t].side != trace::Track::Side::host) continue;
    for (Row row = rank.tracks[t].begin; row < rank.tracks[t].end; ++row) {
      if (!is_host_range(e.kind[row])) continue;
      if (roles[t] == ThreadRole::none) roles[t] = ThreadRole::other;
      if (e.parent[row] == kNoRow) recorded[t] += e.duration(row);
      if (e.kind[row] == trace::Kind::op && is_node(e.name[row])) roles[t] = ThreadRole::backward;
    }
  }
  bool marked = false;
  for (const trace::Step& step : rank.steps) {
    if (step.row == kNoRow || rank.tracks[e.track[step.row]].side != trace::Track::Side::host) continue;
    roles[e.track[step.row]] = ThreadRole::main;
    marked = true;
  }
  if (marked) return roles;
  const std::vector<bool> is_sampled = sampled_tracks(trace, rank);
  TrackId most = 0;
  bool found = false;
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    if (roles[t] != ThreadRole::other || is_sampled[t] || (found && recorded[t] <= recorded[most])) continue;
    most = t;
    found = true;
  }
  if (found) roles[most] = ThreadRole::main;
  return roles;
}

}  // namespace stepscope::derive
