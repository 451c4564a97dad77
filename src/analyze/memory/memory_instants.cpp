#include "analyze/memory/memory_instants.h"

#include <fmt/format.h>

#include <charconv>

#include "analyze/memory/chosen_records.h"
#include "analyze/memory/replayed_snapshots.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using report::kNoInt;

constexpr std::string_view kFailure = "oom";

/// Just before the last allocation that failed; nothing if none did.
std::optional<std::int64_t> last_failure(const trace::AllocatorEvents& events) {
  for (std::int64_t e = events.count(); --e >= 0;)
    if (events.action[static_cast<std::size_t>(e)] == trace::MemoryAction::oom) return e - 1;
  return std::nullopt;
}

std::optional<std::int64_t> event_of(const AllocatorReplay& replay, std::string_view at) {
  const std::int64_t last = static_cast<std::int64_t>(replay.device().events.count()) - 1;
  if (at.empty()) return last_failure(replay.device().events).value_or(replay.peak_event);
  if (at == kFailure) return last_failure(replay.device().events);
  if (at == "peak") return replay.peak_event;
  if (at == "start") return -1;
  if (at == "end") return last;
  std::int64_t event = 0;
  const auto [end, failed] = std::from_chars(at.data(), at.data() + at.size(), event);
  const bool fits = failed == std::errc{} && end == at.data() + at.size() && -1 <= event && event <= last;
  return fits ? std::optional(event) : std::nullopt;
}

}  // namespace

std::optional<MemoryInstant> instant_of(const trace::Rank& rank, const AllocatorReplay& replay,
                                        std::string_view at, std::vector<std::string>& notes) {
  const std::int64_t device = replay.device().number;
  const std::optional<std::int64_t> event = event_of(replay, at);
  if (!event) {
    const std::int64_t count = replay.device().events.count();
    notes.push_back(
        at == kFailure
            ? fmt::format("Device {}: no allocation failed among its events.", device)
            : fmt::format("Device {} has no event {}: it has {}, and the instants peak, start, end and oom.",
                          device, at, count == 0 ? "no events" : fmt::format("events 0 to {}", count - 1)));
    return std::nullopt;
  }
  const std::int64_t requested = replay.requested_at(*event);
  return MemoryInstant{rank.rank,   device,
                       *event,      time_of(replay, *event),
                       requested,   replay.reserved_at(*event),
                       replay.peak, report::ratio(requested, replay.peak)};
}

Result<std::vector<std::int64_t>> events_at(const trace::Rank& rank, std::string_view at) {
  std::vector<std::int64_t> events;
  std::vector<std::string> notes;
  for (const trace::MemoryOfDevice& device : rank.snapshot->devices) {
    const auto instant = instant_of(rank, AllocatorReplay(device), at, notes);
    if (!instant && at != kFailure) return Error{notes.front(), rank.path};
    events.push_back(instant ? instant->event + (at == kFailure) : std::int64_t{device.events.count()} - 1);
  }
  if (!events.empty() && notes.size() == events.size()) return Error{notes.front(), rank.path};
  return events;
}

std::int64_t time_of(const AllocatorReplay& replay, std::int64_t event) {
  const Column<std::int64_t>& time = replay.device().events.time;
  if (event < 0 || time.empty() || time.front() == trace::kNoTime) return kNoInt;
  const std::int64_t at = time[static_cast<std::size_t>(event)];
  return at == trace::kNoTime ? kNoInt : report::plus(at, -time.front());
}

bool is_private(const trace::Snapshot& snapshot, std::uint16_t pool) {
  return pool < snapshot.pools.size() && snapshot.pools[pool] != trace::PoolKey{0, 0};
}

std::string pool_name(const trace::Snapshot& snapshot, std::uint16_t pool) {
  if (!is_private(snapshot, pool)) return "default";
  return fmt::format("private {}.{}", snapshot.pools[pool].first, snapshot.pools[pool].second);
}

std::int64_t stream_number(const trace::Snapshot& snapshot, std::uint16_t stream) {
  std::int64_t number = 1;
  if (stream >= snapshot.streams.size() || snapshot.streams[stream] == 0) return 0;
  for (std::uint16_t i = 0; i < stream; ++i) number += snapshot.streams[i] != 0;
  return number;
}

HeldBy held_by(const report::Params& params) {
  const std::string_view by = params.text("by", "line");
  return by == "stack" ? HeldBy::stack : by == "function" ? HeldBy::function : HeldBy::line;
}

AllocationPlaces::AllocationPlaces(const trace::Trace& trace, const trace::Snapshot& snapshot, HeldBy by)
    : places_(trace, snapshot), by_(by), numbers_(snapshot.stacks.size(), {kUnknown, kUnknown}) {}

std::size_t AllocationPlaces::number_of(trace::StackId stack, bool before) {
  std::size_t& number = numbers_[stack][before];
  if (number != kUnknown) return number;
  const auto [found, is_new] = by_name_.try_emplace(name_of(stack, before), names_.size());
  if (is_new) names_.push_back(found->first);
  number = found->second;
  return number;
}

std::string AllocationPlaces::name_of(trace::StackId stack, bool before) const {
  std::string name = by_ == HeldBy::stack      ? places_.folded(stack)
                     : by_ == HeldBy::function ? places_.function(stack)
                                               : places_.place(stack);
  if (name.empty()) name = before ? kBeforeRecording : kNoStackRecorded;
  return name;
}

}  // namespace stepscope::analyze
