#include "lanes/lane_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "lanes/json.h"
#include "report/statistics.h"

namespace stepscope::lanes {
namespace {

using trace::Rank;
using trace::Track;

constexpr std::size_t kMaxPart = 80;  // bytes of a text of the file in a key, name or title

std::string part(const std::string& text) { return shown(text, kMaxPart); }

std::string in_brackets(const std::string& text) {
  return text.empty() ? "" : fmt::format(" ({})", part(text));
}

std::string stream_of(const Track& track) {
  return track.stream < 0 ? part(track.tid) : std::to_string(track.stream);
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "thread 5"; a track that is no thread has a text in place of a number.
std::string thread_of(const Track& track) {
  if (is_number(track.tid)) return "thread " + part(track.tid);
  if (!track.tid.empty()) return part(track.tid);
  return track.pid.empty() ? "unnamed" : part(track.pid);
}

/// What is known by `number`, and its name, which may repeat the number.
std::string with_name(std::string text, const std::string& number, const std::string& name) {
  if (name.empty() || name == text) return text;
  return has(name, number) && has(name, "thread") ? part(name) : text + in_brackets(name);
}

}  // namespace

TrackRoles::TrackRoles(const trace::Trace& trace, const Rank& rank)
    : rank_(rank),
      threads_(derive::thread_roles(trace, rank)),
      sampled_(derive::sampled_tracks(trace, rank)),
      process_(rank.process) {
  const auto main = std::find(threads_.begin(), threads_.end(), derive::ThreadRole::main);
  if (main != threads_.end()) process_ = rank.tracks[static_cast<std::size_t>(main - threads_.begin())].pid;
}

Role TrackRoles::of_stream(const Track& track) const {
  constexpr Role kOfWork[] = {Role::other, Role::compute, Role::communication, Role::copy, Role::copy};
  std::array<std::int64_t, kRoles> time{};  // by Role
  for (trace::Row row = track.begin; row < track.end; ++row) {
    const Role role = kOfWork[static_cast<std::size_t>(rank_.events.work[row])];
    if (role != Role::other)
      report::add_to(time[static_cast<std::size_t>(role)], rank_.events.duration(row) + 1);
  }
  const auto most = std::max_element(time.begin(), time.end());
  return *most == 0 ? Role::other : static_cast<Role>(most - time.begin());
}

Role TrackRoles::of(trace::TrackId track) const {
  if (rank_.tracks[track].side == Track::Side::device) return of_stream(rank_.tracks[track]);
  if (derive::is_loader_thread(rank_.tracks[track])) return Role::loader;
  constexpr Role kOfThread[] = {Role::main, Role::autograd, Role::thread, Role::other};
  return kOfThread[static_cast<std::size_t>(threads_[track])];
}

std::string TrackRoles::name_of(trace::TrackId id) const {
  const Track& track = rank_.tracks[id];
  if (track.side == Track::Side::device) return fmt::format("stream {}", stream_of(track));
  if (sampled_[id]) return "Python samples";
  const Role role = of(id);
  if (role == Role::main || role == Role::autograd) return std::string(lanes::name_of(role));
  if (role == Role::loader && !track.process.empty()) return part(track.process);
  return track.name.empty() ? thread_of(track) : part(track.name);
}

std::string TrackRoles::title_of(trace::TrackId id) const {
  const Track& track = rank_.tracks[id];
  if (track.side == Track::Side::device) {
    const std::string stream = "stream " + stream_of(track);
    const std::string device = track.device < 0 ? "" : fmt::format("GPU {} ", track.device);
    return device + stream + (track.name == stream ? "" : in_brackets(track.name));
  }
  std::string title = with_name(thread_of(track), track.tid, track.name);
  if (track.pid != process_ && !track.pid.empty())
    title += fmt::format(" of process {}{}", part(track.pid), in_brackets(track.process));
  return title;
}

std::string LaneKeys::of(const Rank& rank, const Track& track) {
  const std::string own = track.side == Track::Side::device
                              ? fmt::format("d{}s{}", track.device, stream_of(track))
                              : fmt::format("t{}", part(track.tid));
  std::string key = fmt::format("r{}/{}", number_of(rank), own);
  if (taken_[key]++ == 0) return key;
  key = fmt::format("r{}/p{}{}", number_of(rank), part(track.pid), own);
  for (int times = taken_[key]++; times > 0; times = taken_[key]++) key += fmt::format("~{}", times + 1);
  return key;
}

}  // namespace stepscope::lanes
