#include "derive/thread_role.h"

#include <algorithm>
#include <charconv>

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

bool is_loader_thread(const trace::Track& track) {
  return track.side == trace::Track::Side::host &&
         (track.process.starts_with("DataLoader worker") || track.name.starts_with("pt_data_worker"));
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

std::optional<TrackId> samples_of(const trace::Trace& trace, const trace::Rank& rank, TrackId thread) {
  const EventTable& e = rank.events;
  const trace::ArgReader sampled(trace, rank, "sampled");
  const trace::Track& of = rank.tracks[thread];
  std::int64_t tid = 0;
  const auto [end, error] = std::from_chars(of.tid.data(), of.tid.data() + of.tid.size(), tid);
  if (error != std::errc{} || end != of.tid.data() + of.tid.size()) return std::nullopt;
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    const trace::Track& track = rank.tracks[t];
    if (track.side != trace::Track::Side::host || track.pid != of.pid) continue;
    Row row = track.begin;
    while (row < track.end && e.kind[row] != trace::Kind::python) ++row;
    if (row < track.end && sampled.integer(row) == tid) return t;
  }
  return std::nullopt;
}

std::vector<ThreadRole> thread_roles(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  trace::AskedOnce is_node(trace.strings, is_autograd_node);
  std::vector<ThreadRole> roles(rank.tracks.size(), ThreadRole::none);
  std::vector<std::int64_t> recorded(rank.tracks.size()), in_python(rank.tracks.size()),
      in_io(rank.tracks.size());
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    if (rank.tracks[t].side != trace::Track::Side::host) continue;
    for (Row row = rank.tracks[t].begin; row < rank.tracks[t].end; ++row) {
      if (!is_host_range(e.kind[row])) continue;
      if (roles[t] == ThreadRole::none) roles[t] = ThreadRole::other;
      const bool node = e.kind[row] == trace::Kind::op && is_node(e.name[row]);
      if (node) roles[t] = ThreadRole::backward;
      const Row parent = e.parent[row];
      if (e.kind[row] == trace::Kind::python)
        in_python[t] += parent == kNoRow ? e.duration(row) : 0;
      else if (e.kind[row] == trace::Kind::io)
        in_io[t] += parent == kNoRow ? e.duration(row) : 0;
      else if (!node && (parent == kNoRow || e.kind[parent] == trace::Kind::python))
        recorded[t] += e.duration(row);
    }
  }
  bool marked = false;
  for (const trace::Step& step : rank.steps) {
    if (step.row == kNoRow || rank.tracks[e.track[step.row]].side != trace::Track::Side::host) continue;
    roles[e.track[step.row]] = ThreadRole::main;
    marked = true;
  }
  if (marked) return roles;
  // A thread that only waits in Python may be on the stack for longer than the one that works.
  for (std::vector<std::int64_t>* instead : {&in_python, &in_io})
    if (std::all_of(recorded.begin(), recorded.end(), [](std::int64_t time) { return time == 0; }))
      recorded = std::move(*instead);
  const std::vector<bool> is_sampled = sampled_tracks(trace, rank);
  std::optional<TrackId> most;
  const auto beats = [&](TrackId t) {
    if (!most) return true;
    const bool loads = is_loader_thread(rank.tracks[t]), most_loads = is_loader_thread(rank.tracks[*most]);
    return loads != most_loads ? most_loads : recorded[t] > recorded[*most];
  };
  for (TrackId t = 0; t < rank.tracks.size(); ++t) {
    const bool may_be =
        roles[t] == ThreadRole::other || (roles[t] == ThreadRole::backward && recorded[t] > 0);
    if (may_be && !is_sampled[t] && beats(t)) most = t;
  }
  if (most) roles[*most] = ThreadRole::main;
  return roles;
}

}  // namespace stepscope::derive
