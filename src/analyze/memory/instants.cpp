#include "analyze/memory/instants.h"

#include <fmt/format.h>

#include <charconv>

#include "report/table.h"

namespace stepscope::analyze {
namespace {

/// Just before the last allocation that failed; nothing if none did.
std::optional<std::int64_t> last_failure(const trace::AllocatorEvents& events) {
  for (std::int64_t e = events.count(); --e >= 0;)
    if (events.action[static_cast<std::size_t>(e)] == trace::MemoryAction::oom) return e - 1;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> event_of(const derive::AllocatorReplay& replay, std::string_view at) {
  const trace::AllocatorEvents& events = replay.device().events;
  const std::int64_t last = static_cast<std::int64_t>(events.count()) - 1;
  if (at.empty()) return last_failure(events).value_or(replay.peak_event);
  if (at == "oom") return last_failure(events);
  if (at == "peak") return replay.peak_event;
  if (at == "start") return -1;
  if (at == "end") return last;
  std::int64_t event = 0;
  const auto [end, failed] = std::from_chars(at.data(), at.data() + at.size(), event);
  const bool fits = failed == std::errc{} && end == at.data() + at.size() && -1 <= event && event <= last;
  return fits ? std::optional(event) : std::nullopt;
}

std::string no_such_event(const derive::AllocatorReplay& replay, std::string_view at) {
  if (at == "oom")
    return fmt::format("Device {}: no allocation failed among its events.", replay.device().number);
  return fmt::format(
      "Device {} has no event {}: it has events 0 to {}, and the instants peak, start, end and oom.",
      replay.device().number, at, static_cast<std::int64_t>(replay.device().events.count()) - 1);
}

std::int64_t time_of(const derive::AllocatorReplay& replay, std::int64_t event) {
  const Column<std::int64_t>& time = replay.device().events.time;
  if (event < 0 || time.empty() || time.front() == trace::kNoTime) return report::kNoInt;
  const std::int64_t at = time[static_cast<std::size_t>(event)];
  return at == trace::kNoTime ? report::kNoInt : at - time.front();
}

std::string pool_name(const trace::Snapshot& snapshot, std::uint16_t pool) {
  if (pool >= snapshot.pools.size() || snapshot.pools[pool] == trace::PoolKey{0, 0}) return "default";
  return fmt::format("({}, {})", snapshot.pools[pool].first, snapshot.pools[pool].second);
}

std::int64_t stream_number(const trace::Snapshot& snapshot, std::uint16_t stream) {
  std::int64_t number = 1;
  if (stream >= snapshot.streams.size() || snapshot.streams[stream] == 0) return 0;
  for (std::uint16_t i = 0; i < stream; ++i) number += snapshot.streams[i] != 0;
  return number;
}

}  // namespace stepscope::analyze
