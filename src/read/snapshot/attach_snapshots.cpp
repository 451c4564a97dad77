#include "read/snapshot/attach_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "trace/snapshot.h"

namespace stepscope::read {
namespace {

using trace::Rank;

/// The rank that `snapshot` belongs to, or nullptr.
Rank* owner_of(trace::Trace& trace, const Rank& snapshot) {
  Rank* only = nullptr;
  std::size_t others = 0;
  for (Rank& rank : trace.ranks) {
    if (rank.is_snapshot_alone() || rank.path.empty()) continue;
    if (snapshot.rank >= 0 && rank.rank == snapshot.rank) return &rank;
    ++others;
    only = &rank;
  }
  return others == 1 && (snapshot.rank < 0 || only->rank < 0) ? only : nullptr;
}

/// Of several snapshots of a rank, the one in which an allocation failed tells most; else the last one.
bool tells_more(const trace::Snapshot& a, const trace::Snapshot& b) {
  const auto failed = [](const trace::Snapshot& of) {
    return std::ranges::any_of(of.devices, [](const trace::MemoryOfDevice& device) {
      return std::ranges::find(device.events.action, trace::MemoryAction::oom) != device.events.action.end();
    });
  };
  const auto end = [](const trace::Snapshot& of) {
    std::int64_t last = trace::kNoTime;
    for (const trace::MemoryOfDevice& device : of.devices)
      if (!device.events.time.empty()) last = std::max(last, device.events.time.back());
    return last;
  };
  return failed(a) != failed(b) ? failed(a) : end(a) > end(b);
}

struct Taken {
  std::string path;
  std::size_t others = 0;  ///< snapshots of the same rank that tell less
};

/// Whether both tell Unix time, and no event of the snapshot happened while the rank recorded.
bool is_of_another_time(const trace::Snapshot& snapshot, const Rank& owner) {
  constexpr std::int64_t kUnix = 100'000'000'000'000'000;  // 1973: clocks that begin at a boot are below
  if (owner.first_start == trace::kNoTime || owner.base_ns + owner.first_start < kUnix) return false;
  bool any = false;
  for (const trace::MemoryOfDevice& device : snapshot.devices) {
    const Column<std::int64_t>& time = device.events.time;
    if (time.empty() || time.front() < kUnix) continue;
    any = true;
    if (time.front() < owner.base_ns + owner.last_end && owner.base_ns + owner.first_start < time.back())
      return false;
  }
  return any;
}

std::string told(const Taken& taken, const Rank& owner) {
  std::string note = fmt::format("{} is taken for the memory snapshot of {}.", taken.path, owner.path);
  if (taken.others > 0)
    note += fmt::format(" {} more beside it {} left out: open {} alone.", taken.others,
                        taken.others == 1 ? "is" : "are", taken.others == 1 ? "it" : "each");
  if (is_of_another_time(*owner.snapshot, owner))
    note += " Their times do not overlap: if they are of different runs, open each alone.";
  return note;
}

}  // namespace

void attach_snapshots(trace::Trace& trace) {
  std::map<Rank*, Taken> taken;
  for (Rank& snapshot : trace.ranks) {
    if (!snapshot.is_snapshot_alone()) continue;
    Rank* const owner = owner_of(trace, snapshot);
    if (owner == nullptr) {
      trace.notes.push_back(
          fmt::format("{} is a memory snapshot, without ops and kernels: the analyses of memory "
                      "answer from it.",
                      snapshot.path));
      continue;
    }
    const auto [of, is_first] = taken.try_emplace(owner);
    of->second.others += !is_first;
    trace.companions.push_back({snapshot.path, snapshot.reading, snapshot.snapshot->faults, owner->rank});
    if (is_first || tells_more(*snapshot.snapshot, *owner->snapshot)) {
      owner->snapshot = snapshot.snapshot;
      of->second.path = std::move(snapshot.path);
    }
    snapshot.snapshot = nullptr;
    snapshot.path.clear();
  }
  for (const auto& [owner, of] : taken) trace.notes.push_back(told(of, *owner));
  std::erase_if(trace.ranks, [](const Rank& rank) { return rank.path.empty() && rank.events.size() == 0; });
}

}  // namespace stepscope::read
