#include "analyze/memory/memory_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "derive/allocator/level_walk.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using derive::AllocatorReplay;
using derive::StepsFrom;
using trace::MemoryAction;

/// The first steps take memory that later ones use again: gradients, the optimizer's state, caches.
std::size_t warm_up_of(std::size_t steps) { return steps >= 8 ? 2 : steps >= 6 ? 1 : 0; }

bool takes(MemoryAction action) {
  return action == MemoryAction::segment_alloc || action == MemoryAction::segment_map;
}
bool returns(MemoryAction action) {
  return action == MemoryAction::segment_free || action == MemoryAction::segment_unmap;
}

class StepWalk {
 public:
  StepWalk(const trace::Rank& rank, const AllocatorReplay& replay)
      : rank_(rank), replay_(replay), events_(replay.device().events), levels_(replay) {}

  MemoryStep step(std::int64_t number, std::uint32_t begin, std::uint32_t end) {
    MemoryStep of{};
    of.rank = rank_.rank;
    of.device = replay_.device().number;
    of.number = number;
    of.event = begin;
    of.length = length(begin, end);
    of.start = of.peak = of.lowest = levels_.now().requested;
    of.lowest_event = std::int64_t{begin} - 1;
    of.peak_reserved = levels_.now().reserved;
    for (std::uint32_t e = begin; e < end; ++e) add(of, e);
    return of;
  }

 private:
  void add(MemoryStep& of, std::uint32_t e) {
    const MemoryAction action = events_.action[e];
    levels_.next();
    const derive::MemoryLevels& now = levels_.now();
    of.peak = std::max(of.peak, now.requested);
    of.peak_reserved = std::max(of.peak_reserved, now.reserved);
    if (now.requested < of.lowest) {
      of.lowest = now.requested;
      of.lowest_event = e;
    }
    if (action == MemoryAction::alloc) {
      ++of.allocations;
      report::add_to(of.allocated, events_.size[e]);
    } else if (takes(action)) {
      ++of.segments_taken;
      report::add_to(of.taken, events_.size[e]);
    } else if (returns(action)) {
      ++of.segments_returned;
      report::add_to(of.returned, events_.size[e]);
    }
    of.retries += replay_.is_retry(e);
  }

  std::int64_t length(std::uint32_t begin, std::uint32_t end) const {
    if (events_.time.empty() || end <= begin) return report::kNoInt;
    const std::int64_t from = events_.time[begin], to = events_.time[end < events_.count() ? end : end - 1];
    return from == trace::kNoTime || to == trace::kNoTime ? report::kNoInt : report::plus(to, -from);
  }

  const trace::Rank& rank_;
  const AllocatorReplay& replay_;
  const trace::AllocatorEvents& events_;
  derive::LevelWalk levels_;
};

DeviceSteps device_steps_of(const trace::Trace& trace, const trace::Rank& rank,
                            const AllocatorReplay& replay) {
  DeviceSteps of;
  const std::uint32_t events = replay.device().events.count();
  of.found = derive::allocation_steps(trace, rank, replay);
  StepWalk walk(rank, replay);
  const std::vector<std::uint32_t>& begins = of.found.begins;
  if (begins.empty()) {
    of.steps.push_back(walk.step(0, 0, events));
    return of;
  }
  walk.step(-1, 0, begins.front());
  for (std::size_t i = 0; i < begins.size(); ++i)
    of.steps.push_back(
        walk.step(static_cast<std::int64_t>(i), begins[i], i + 1 < begins.size() ? begins[i + 1] : events));
  of.warm_up = warm_up_of(of.steps.size());
  return of;
}

}  // namespace

const std::vector<DeviceSteps>& memory_steps_of(const Derived& derived, const trace::Rank& rank) {
  const auto index = static_cast<int>(&rank - derived.trace().ranks.data());
  return derived.kept<std::vector<DeviceSteps>>(index, [&] {
    std::vector<DeviceSteps> all;
    for (const AllocatorReplay& replay : replays_of(derived, rank))
      all.push_back(device_steps_of(derived.trace(), rank, replay));
    return all;
  });
}

std::string told(const trace::Trace& trace, const trace::Rank& rank, const DeviceSteps& of) {
  switch (of.found.from) {
    case StepsFrom::marks:
      return fmt::format("{} steps, as the program marked them", of.steps.size());
    case StepsFrom::recording:
      return fmt::format("{} steps, those of the recording", of.steps.size());
    case StepsFrom::rhythm:
      return fmt::format("{} steps; each begins where {} allocates", of.steps.size(),
                         derive::StackPlaces(trace, *rank.snapshot).place(of.found.stack));
    case StepsFrom::none:
      break;
  }
  return "no steps: nothing marks them, and no stacks allocate in a rhythm";
}

}  // namespace stepscope::analyze
