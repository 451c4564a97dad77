#include "write/pfw/pfw_ids.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace stepscope::write {
namespace {

/// FNV-1a. Not process_hash_seed(): the hashes of two exports must agree.
std::uint32_t pfw_hash(std::string_view text) {
  std::uint32_t hash = 2'166'136'261;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619;
  return hash;
}

std::optional<std::int64_t> pfw_number(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;  // as doubles hold them
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > kMost)
    return std::nullopt;
  return number;
}

}  // namespace

std::pair<std::uint32_t, bool> PfwHashes::of(std::string_view text) {
  const auto [found, added] = known_.try_emplace(std::string(text), 0);
  if (!added) return {found->second, false};
  std::uint32_t hash = pfw_hash(text);
  while (hash == 0 || !taken_.insert(hash).second) ++hash;
  found->second = hash;
  return {hash, true};
}

PfwLanes::PfwLanes(const trace::Trace& trace) {
  for (const trace::Rank& rank : trace.ranks)
    for (const trace::Track& track : rank.tracks)
      for (const std::string* text : {&track.pid, &track.tid})
        if (const auto number = pfw_number(*text)) next_ = std::max(next_, *number + 1);
}

PfwLane PfwLanes::of(const trace::Rank& rank, trace::TrackId track) {
  const trace::Track& of = rank.tracks[track];
  const auto [process, new_process] = pids_.try_emplace({&rank, of.pid}, 0);
  if (new_process) {
    const auto number = pfw_number(of.pid);
    const bool keeps = number && taken_.insert(*number).second;
    process->second = keeps ? *number : next_++;
    renumbered_ += !keeps;
  }
  const auto [thread, new_thread] = tids_.try_emplace({process->second, of.tid}, 0);
  if (new_thread) {
    const auto number = pfw_number(of.tid);
    thread->second = number ? *number : next_++;
  }
  return {process->second, thread->second};
}

}  // namespace stepscope::write
