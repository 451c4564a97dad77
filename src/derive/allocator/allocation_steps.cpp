#include "derive/allocator/allocation_steps.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/text.h"

namespace stepscope::derive {
namespace {

using trace::MemoryAction;

constexpr std::size_t kFewest = 3;  ///< steps

/// The first events at these times, which rise, or after them.
std::vector<std::uint32_t> begun_at(const trace::MemoryOfDevice& device,
                                    std::span<const std::int64_t> times) {
  std::vector<std::uint32_t> begins;
  std::uint32_t e = 0;
  const std::uint32_t events = device.events.count();
  for (const std::int64_t time : times) {
    while (e < events && device.events.time[e] < time) ++e;
    if (e < events && (begins.empty() || begins.back() < e)) begins.push_back(e);
  }
  return begins;
}

/// Events at which marked ranges of that name's beginning begin.
std::vector<std::uint32_t> marked(const trace::Trace& trace, const trace::Snapshot& snapshot,
                                  const trace::MemoryOfDevice& device, std::string_view name) {
  std::vector<std::int64_t> times;
  const std::int64_t first = device.events.time.front();
  std::int64_t before = trace::kNoTime;  // the latest mark before the first event: its step holds that event
  for (const trace::MemoryMark& mark : snapshot.marks) {
    if (!mark.begin || mark.device != device.number || !trace.text(mark.name).starts_with(name)) continue;
    if (mark.time < first)
      before = std::max(before, mark.time);
    else
      times.push_back(mark.time);
  }
  if (before != trace::kNoTime) times.push_back(before);
  std::ranges::sort(times);
  return begun_at(device, times);
}

/// The same of the recording's steps, if they cover at least half of the events.
std::vector<std::uint32_t> recorded(const trace::Rank& rank, const trace::MemoryOfDevice& device) {
  std::vector<std::int64_t> begins, ends;
  for (const trace::Step& step : rank.steps) {
    if (!step.counts()) continue;
    begins.push_back(rank.base_ns + step.start);
    ends.push_back(rank.base_ns + step.end);
  }
  if (begins.empty()) return {};
  const Column<std::int64_t>& time = device.events.time;
  const auto covered =
      std::ranges::count_if(time, [&](std::int64_t t) { return begins.front() <= t && t < ends.back(); });
  return covered * 2 >= std::ssize(time) ? begun_at(device, begins) : std::vector<std::uint32_t>{};
}

/// Alloc events, grouped by stack, in order.
class ByStack {
 public:
  ByStack(const trace::AllocatorEvents& events, std::uint32_t stacks) : begins_(stacks + 1) {
    for (std::uint32_t e = 0; e < events.count(); ++e)
      if (events.action[e] == MemoryAction::alloc) ++begins_[events.stack[e] + 1];
    for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
    events_.resize(begins_.back());
    std::vector<std::uint32_t> at(begins_.begin(), begins_.end() - 1);
    for (std::uint32_t e = 0; e < events.count(); ++e)
      if (events.action[e] == MemoryAction::alloc) events_[at[events.stack[e]]++] = e;
  }
  std::uint32_t stacks() const { return static_cast<std::uint32_t>(begins_.size() - 1); }
  std::span<const std::uint32_t> operator[](trace::StackId stack) const {
    return {events_.data() + begins_[stack], begins_[stack + 1] - begins_[stack]};
  }

 private:
  std::vector<std::uint32_t> begins_;
  Column<std::uint32_t> events_;
};

/// Whether a stack allocates evenly in at least half of `all` events: four of five distances are within half
/// and double their median, and none above four times it, but one, and one of fifty.
bool is_regular(std::span<const std::uint32_t> events, std::uint64_t all) {
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < events.size(); ++i) gaps.push_back(events[i] - events[i - 1]);
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  const std::uint64_t median = gaps[gaps.size() / 2];
  std::uint64_t near = 0, far = 0, covered = 0;
  for (const std::uint64_t gap : gaps) {
    near += gap * 2 >= median && gap <= median * 2;
    far += gap > median * 4;
    if (gap <= median * 4) covered += gap;
  }
  return near * 5 >= gaps.size() * 4 && far <= 1 + gaps.size() / 50 && covered * 2 >= all;
}

/// Whether half of a step's allocations are freed by the end of the next one. Of a single pass through
/// layers, which have a rhythm too, most live on.
bool gives_back(const AllocatorReplay& replay, const std::vector<std::uint32_t>& begins) {
  std::uint64_t all = 0, freed = 0;
  const trace::AllocatorEvents& events = replay.device().events;
  for (std::size_t step = 0; step + 2 < begins.size(); ++step)
    for (std::uint32_t e = begins[step]; e < begins[step + 1]; ++e) {
      if (events.action[e] != MemoryAction::alloc) continue;
      ++all;
      freed += replay.partner(e) < begins[step + 2];
    }
  return freed * 2 >= all;
}

/// Steps have layers, which repeat more often, and now and then an evaluation, which repeats less often. So
/// the fewest repetitions count that two stacks share, from eight on; below that, the most.
bool is_better(std::size_t count, bool shared, std::size_t than, bool than_shared) {
  constexpr std::size_t kEnough = 8;
  const bool enough = count >= kEnough, than_enough = than >= kEnough;
  if (enough != than_enough) return enough;
  if (shared != than_shared) return shared;
  return enough ? count < than : count > than;
}

AllocationSteps of_rhythm(const trace::Snapshot& snapshot, const AllocatorReplay& replay) {
  const trace::AllocatorEvents& events = replay.device().events;
  const ByStack by_stack(events, snapshot.stacks.size());
  std::map<std::size_t, std::vector<trace::StackId>> regular;  // by number of allocations
  for (trace::StackId stack = 1; stack < by_stack.stacks(); ++stack) {
    const auto of = by_stack[stack];
    if (of.size() >= kFewest && is_regular(of, events.count())) regular[of.size()].push_back(stack);
  }
  AllocationSteps best;
  bool best_shared = false;
  for (const auto& [count, stacks] : regular) {
    const bool shared = stacks.size() > 1 || regular.contains(count - 1) || regular.contains(count + 1);
    if (best.from != StepsFrom::none && !is_better(count, shared, best.begins.size(), best_shared)) continue;
    const trace::StackId first =
        *std::ranges::min_element(stacks, {}, [&](trace::StackId stack) { return by_stack[stack][0]; });
    std::vector<std::uint32_t> begins(by_stack[first].begin(), by_stack[first].end());
    if (!gives_back(replay, begins)) continue;
    best = {StepsFrom::rhythm, std::move(begins), first};
    best_shared = shared;
  }
  return best;
}

}  // namespace

AllocationSteps allocation_steps(const trace::Trace& trace, const trace::Rank& rank,
                                 const AllocatorReplay& replay) {
  const trace::Snapshot& snapshot = *rank.snapshot;
  const trace::MemoryOfDevice& device = replay.device();
  const Column<std::int64_t>& times = device.events.time;
  if (!times.empty() && times.front() != trace::kNoTime) {
    for (const std::string_view name : {"ProfilerStep#", "Optimizer.step#"}) {
      std::vector<std::uint32_t> begins = marked(trace, snapshot, device, name);
      if (begins.size() >= kFewest) return {StepsFrom::marks, std::move(begins), trace::kNoStack};
    }
    std::vector<std::uint32_t> begins = recorded(rank, device);
    if (begins.size() >= kFewest) return {StepsFrom::recording, std::move(begins), trace::kNoStack};
  }
  return of_rhythm(snapshot, replay);
}

}  // namespace stepscope::derive
