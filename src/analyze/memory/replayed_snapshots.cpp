#include "analyze/memory/replayed_snapshots.h"

#include <fmt/format.h>

#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using report::Unit;
using trace::MemoryAction;

std::string bytes(std::int64_t value) { return report::format_value(value, Unit::bytes); }
std::string count(std::int64_t value) { return report::format_value(value, Unit::count); }

constexpr std::string_view kHistory = "torch.cuda.memory._record_memory_history(max_entries=1_000_000)";

/// The events before the first one kept.
std::string of_overflow(const trace::Snapshot& snapshot, const AllocatorReplay& replay) {
  const std::int64_t events = replay.device().events.count();
  constexpr std::int64_t kUsualRing = 100'000;
  constexpr std::string_view kRemedy =
      "Record with a larger max_entries of torch.cuda.memory._record_memory_history(), or dump earlier.";
  if (snapshot.overflowed)
    return fmt::format("The recorder had room for {} events and dropped those before the first one kept. {}",
                       count(snapshot.max_events > 0 ? snapshot.max_events : events), kRemedy);
  if (!snapshot.has_overflow && replay.unmatched_frees > 0 && events > 0 && events % kUsualRing == 0)
    return fmt::format(
        "Exactly {} events are kept and some free older memory: earlier events were probably dropped. {}",
        count(events), kRemedy);
  return "";
}

/// The share of allocations whose stack has no Python frame.
std::string of_stacks(const derive::StackPlaces& places, const trace::Snapshot& snapshot,
                      const AllocatorReplay& replay) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<std::int8_t> python(snapshot.stacks.size(), -1);
  std::int64_t without = 0, empty = 0;
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    if (events.action[e] != MemoryAction::alloc) continue;
    const trace::StackId stack = events.stack[e];
    if (python[stack] < 0) python[stack] = places.has_python(stack);
    without += python[stack] == 0;
    empty += stack == trace::kNoStack;
  }
  if (without == 0) return "";
  const std::string share = report::format_value(report::ratio(without, replay.allocations), Unit::share);
  if (empty == replay.allocations)
    return "No allocation has a stack. Record with stacks=\"all\" and context=\"all\", the defaults.";
  return fmt::format(
      "{} of the allocations have no Python frame, as in a backward pass, which runs on threads of C++.",
      share);
}

}  // namespace

const char* const kNoSnapshotNote =
    "No memory snapshot is open. Call torch.cuda.memory._record_memory_history(max_entries=1_000_000) before "
    "the "
    "steps and torch.cuda.memory._dump_snapshot(\"mem.pickle\") after them, then give mem.pickle.";

const std::vector<AllocatorReplay>& replays_of(const Derived& derived, const trace::Rank& rank) {
  const auto index = static_cast<int>(&rank - derived.trace().ranks.data());
  return derived.kept<std::vector<AllocatorReplay>>(index, [&] {
    std::vector<AllocatorReplay> replays;
    if (rank.snapshot == nullptr) return replays;
    replays.reserve(rank.snapshot->devices.size());
    for (const trace::MemoryOfDevice& device : rank.snapshot->devices) replays.emplace_back(device);
    return replays;
  });
}

std::vector<std::string> capture_health(const trace::Trace& trace, const trace::Rank& rank,
                                        const std::vector<AllocatorReplay>& replays) {
  std::vector<std::string> notes;
  const trace::Snapshot& snapshot = *rank.snapshot;
  const derive::StackPlaces places(trace, snapshot);
  const std::string file = trace.several() ? fmt::format("Rank {}: ", rank.rank) : "";
  if (snapshot.cut)
    notes.push_back(
        fmt::format("{}The snapshot ends early, at byte {}: later events are missing, so levels and peak "
                    "may be wrong.",
                    file, rank.reading.text_bytes));
  bool any_events = false;
  for (const AllocatorReplay& replay : replays) {
    const std::string device = fmt::format("{}Device {}: ", file, replay.device().number);
    const auto say = [&](const std::string& sentence) {
      if (!sentence.empty()) notes.push_back(device + sentence);
    };
    if (replay.device().events.count() == 0) continue;
    any_events = true;
    say(of_overflow(snapshot, replay));
    if (replay.unmatched_frees > 0)
      say(fmt::format("{} frees are of memory that was allocated before the first event, {}.",
                      count(replay.unmatched_frees), bytes(replay.unmatched_bytes)));
    if (replay.by_request)
      say("Completed frees were not recorded, so memory counts as free from the request on.");
    if (replay.reused > 0)
      say(fmt::format("{} allocations got an address that no event freed: frees are missing.",
                      count(replay.reused)));
    say(of_stacks(places, snapshot, replay));
    if (replay.residual() != 0)
      say(fmt::format(
          "After the last event {} are allocated, but {} are in use in the segments: events are missing, or "
          "came after the segments were read.",
          bytes(replay.end), bytes(replay.in_use)));
  }
  if (!any_events)
    notes.push_back(
        fmt::format("{}The snapshot has no events, only the final state: history was off. Call {} before the "
                    "steps.",
                    file, kHistory));
  for (const std::string& fault : snapshot.faults) notes.push_back(file + fault);
  return notes;
}

std::vector<std::string> state_health(const trace::Trace& trace, const trace::Rank& rank) {
  std::vector<std::string> notes;
  const std::string file = trace.several() ? fmt::format("Rank {}: ", rank.rank) : "";
  if (rank.snapshot->cut)
    notes.push_back(fmt::format("{}The snapshot ends early, at byte {}: later segments are missing.", file,
                                rank.reading.text_bytes));
  for (const std::string& fault : rank.snapshot->faults) notes.push_back(file + fault);
  return notes;
}

}  // namespace stepscope::analyze
