#include "analyze/replayed_rank.h"

#include <algorithm>
#include <cmath>

#include "report/statistics.h"

namespace stepscope::analyze {

void Change::add(const Change& other) {
  found |= other.found;
  changes.host.insert(changes.host.end(), other.changes.host.begin(), other.changes.host.end());
  changes.waits = std::min(changes.waits, other.changes.waits);
  if (changes.device.empty()) changes.device = other.changes.device;
  for (std::size_t i = 0; i < other.changes.device.size(); ++i)
    changes.device[i] = std::min(changes.device[i], other.changes.device[i]);
}

ReplayedRank::ReplayedRank(const trace::Trace& trace, const trace::Rank& rank, const StepChoice& choice,
                           const std::vector<derive::Waiting>& waits)
    : trace_(trace),
      rank_(rank),
      window_(trace, rank, choice),
      plan_(derive::replay_plan(trace, rank, waits, window_.marks())),
      identity_(length({})) {}

double ReplayedRank::error() const {
  return std::abs(report::ratio(identity_ - window_.recorded(), window_.recorded()));
}

std::int64_t ReplayedRank::length(const Change& change) const {
  return window_.length(plan_, derive::replay(rank_, plan_, change.changes));
}

Change ReplayedRank::change_of(std::span<const Scale> scales) const {
  Change change;
  for (const Scale& scale : scales) change.found |= add_changes(trace_, rank_, plan_, scale, change.changes);
  return change;
}

}  // namespace stepscope::analyze
