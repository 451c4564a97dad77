#include "analyze/replayed_rank.h"

#include <algorithm>
#include <cmath>

#include "report/statistics.h"
#include "trace/asked_once.h"

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

Launched ReplayedRank::launched_in(std::string_view part) const {
  const trace::EventTable& e = rank_.events;
  trace::AskedOnce named(trace_.strings,
                         [&](std::string_view name) { return name.find(part) != std::string_view::npos; });
  Launched launched;
  std::vector<bool> inside(e.size());
  for (trace::Row row = 0; row < e.size(); ++row) {
    if (!is_host_range(e.kind[row])) continue;
    const bool below = e.parent[row] != trace::kNoRow && inside[e.parent[row]];
    inside[row] = below || named(e.name[row]);
    launched.ranges += inside[row] && !below;
  }
  if (launched.ranges == 0) return launched;
  std::vector<std::int64_t> lengths;
  for (const derive::ReplayPlan::Event& event : plan_.events)
    if (e.launch[event.row] != trace::kNoRow && inside[e.launch[event.row]])
      lengths.push_back(e.duration(event.row));
  launched.events = static_cast<std::int64_t>(lengths.size());
  for (const std::int64_t length : lengths) report::add_to(launched.device, length);
  launched.median = report::quantile(lengths, 0.5);
  return launched;
}

Change ReplayedRank::change_of(std::span<const Scale> scales) const {
  Change change;
  for (const Scale& scale : scales) change.found |= add_changes(trace_, rank_, plan_, scale, change.changes);
  return change;
}

}  // namespace stepscope::analyze
