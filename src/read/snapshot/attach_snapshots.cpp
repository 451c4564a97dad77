#include "read/snapshot/attach_snapshots.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/snapshot.h"

namespace stepscope::read {
namespace {

using trace::Rank;

bool is_snapshot_alone(const Rank& rank) { return rank.snapshot != nullptr && rank.events.size() == 0; }

/// The rank that `snapshot` belongs to, or nullptr.
Rank* owner_of(trace::Trace& trace, const Rank& snapshot) {
  Rank* only = nullptr;
  std::size_t others = 0;
  for (Rank& rank : trace.ranks) {
    if (rank.snapshot != nullptr) continue;
    if (snapshot.rank >= 0 && rank.rank == snapshot.rank) return &rank;
    ++others;
    only = &rank;
  }
  return others == 1 && (snapshot.rank < 0 || only->rank < 0) ? only : nullptr;
}

}  // namespace

void attach_snapshots(trace::Trace& trace) {
  for (Rank& snapshot : trace.ranks) {
    if (!is_snapshot_alone(snapshot)) continue;
    Rank* const owner = owner_of(trace, snapshot);
    if (owner == nullptr) {
      trace.notes.push_back(
          fmt::format("{} is a memory snapshot, without ops and kernels: the analyses of memory "
                      "answer from it.",
                      snapshot.path));
      continue;
    }
    owner->snapshot = snapshot.snapshot;
    trace.notes.push_back(
        fmt::format("{} is taken for the memory snapshot of {}.", snapshot.path, owner->path));
    trace.companions.push_back({snapshot.path, snapshot.reading, snapshot.snapshot->faults, owner->rank});
    snapshot.snapshot = nullptr;
    snapshot.path.clear();
  }
  std::erase_if(trace.ranks, [](const Rank& rank) { return rank.path.empty() && rank.events.size() == 0; });
}

}  // namespace stepscope::read
