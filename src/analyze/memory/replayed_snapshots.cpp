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

/// About the events before the first one kept.
std::string of_overflow(const trace::Snapshot& snapshot, const AllocatorReplay& replay) {
  const std::int64_t events = replay.device().events.count();
  constexpr std::int64_t kUsualRing = 100'000;
  if (snapshot.overflowed)
    return fmt::format("The recorder had room for {} events and dropped those before the first one kept.",
                       count(snapshot.max_events > 0 ? snapshot.max_events : events));
  if (!snapshot.has_overflow && replay.unmatched_frees > 0 && events > 0 && events % kUsualRing == 0)
    return fmt::format(
        "Exactly {} events are kept and some free older memory: earlier events were probably dropped.",
        count(events));
  return "";
}

/// Allocations whose stack has no Python frame, and those without any stack.
struct Stackless {
  std::int64_t without_python = 0, without_any = 0;
};

Stackless stackless(const derive::StackPlaces& places, const trace::Snapshot& snapshot,
                    const AllocatorReplay& replay) {
  const trace::AllocatorEvents& events = replay.device().events;
  std::vector<std::int8_t> python(snapshot.stacks.size(), -1);
  Stackless of;
  for (std::uint32_t e = 0; e < events.count(); ++e) {
    if (events.action[e] != MemoryAction::alloc) continue;
    const trace::StackId stack = events.stack[e];
    if (python[stack] < 0) python[stack] = places.has_python(stack);
    of.without_python += python[stack] == 0;
    of.without_any += stack == trace::kNoStack;
  }
  return of;
}

std::vector<CaptureFault> find_faults(const trace::Trace& trace, const trace::Rank& rank,
                                      const std::vector<AllocatorReplay>& replays) {
  using FaultKind = CaptureFault::Kind;
  std::vector<CaptureFault> faults;
  const trace::Snapshot& snapshot = *rank.snapshot;
  const derive::StackPlaces places(trace, snapshot);
  const std::string file = trace.several() ? fmt::format("Rank {}: ", rank.rank) : "";
  const auto add = [&](FaultKind kind, std::string what, std::string remedy = "") {
    faults.push_back({rank.rank, kind, std::move(what), std::move(remedy)});
  };
  if (snapshot.cut)
    add(FaultKind::wrong,
        fmt::format("{}The snapshot ends early, at byte {}: later events are missing, so levels and peak "
                    "may be wrong.",
                    file, rank.reading.text_bytes));
  bool any_allocation = false;
  for (const AllocatorReplay& replay : replays) {
    const std::string device = fmt::format("{}Device {}: ", file, replay.device().number);
    if (replay.device().events.count() == 0) continue;
    any_allocation |= replay.allocations > 0;
    if (const std::string dropped = of_overflow(snapshot, replay); !dropped.empty())
      add(FaultKind::dropped, device + dropped,
          "Record with a larger max_entries of torch.cuda.memory._record_memory_history(), or dump earlier.");
    if (replay.unmatched_frees > 0)
      add(FaultKind::told,
          fmt::format(
              "{}{} of memory that was allocated before the first event, {}.", device,
              replay.unmatched_frees == 1 ? "one free is" : count(replay.unmatched_frees) + " frees are",
              bytes(replay.unmatched_bytes)));
    if (replay.by_request)
      add(FaultKind::told,
          device + "Completed frees were not recorded, so memory counts as free from the request on.");
    if (replay.reused > 0)
      add(FaultKind::wrong,
          fmt::format("{}{} allocations got an address that no event freed: frees are missing.", device,
                      count(replay.reused)));
    const Stackless of = stackless(places, snapshot, replay);
    if (replay.allocations > 0 && of.without_any == replay.allocations)
      add(FaultKind::no_stacks, device + "No allocation has a stack.",
          "Record with stacks=\"all\" and context=\"all\", the defaults.");
    else if (of.without_python > 0)
      add(FaultKind::told,
          fmt::format(
              "{}{} of the allocations have no Python frame, as in a backward pass, which runs on "
              "threads of C++.",
              device,
              report::format_value(report::ratio(of.without_python, replay.allocations), Unit::share)));
    if (replay.residual() != 0)
      add(FaultKind::wrong,
          fmt::format(
              "{}After the last event {} are allocated, but {} are in use in the segments: events are "
              "missing, or came after the segments were read.",
              device, bytes(replay.end), bytes(replay.in_use)));
  }
  if (!any_allocation)
    add(FaultKind::no_events,
        fmt::format(
            "{}The snapshot has no allocation among its events, only the final state: history was off.",
            file),
        fmt::format("Call {} before the steps.", kHistory));
  for (const std::string& fault : snapshot.faults) add(FaultKind::wrong, file + fault);
  return faults;
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

const std::vector<CaptureFault>& capture_faults(const Derived& derived, const trace::Rank& rank) {
  const auto index = static_cast<int>(&rank - derived.trace().ranks.data());
  return derived.kept<std::vector<CaptureFault>>(
      index, [&] { return find_faults(derived.trace(), rank, replays_of(derived, rank)); });
}

std::string note_of(const CaptureFault& fault) {
  return fault.remedy.empty() ? fault.what : fault.what + ' ' + fault.remedy;
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
