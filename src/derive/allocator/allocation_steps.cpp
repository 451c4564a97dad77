#include "derive/allocator/allocation_steps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "base/text.h"

namespace stepscope::derive {
namespace {

using trace::MemoryAction;

constexpr std::size_t kFewest = 3;  ///< steps

/// Events at which marked ranges of that name's beginning begin.
std::vector<std::uint32_t> marked(const trace::Trace& trace, const trace::Snapshot& snapshot,
                                  const trace::MemoryOfDevice& device, std::string_view name) {
  std::vector<std::int64_t> times;
  const std::int64_t first = device.events.time.front();
  for (const trace::MemoryMark& mark : snapshot.marks)
    if (mark.begin && mark.device == device.number && mark.time >= first &&
        trace.text(mark.name).starts_with(name))
      times.push_back(mark.time);
  std::ranges::sort(times);
  std::vector<std::uint32_t> begins;
  std::uint32_t e = 0;
  const std::uint32_t events = device.events.count();
  for (const std::int64_t time : times) {
    while (e < events && device.events.time[e] < time) ++e;
    if (e < events && (begins.empty() || begins.back() < e)) begins.push_back(e);
  }
  return begins;
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

/// Whether the distances are nearly equal: four of five within half and double their median.
bool is_regular(std::span<const std::uint32_t> events) {
  std::vector<std::uint32_t> gaps;
  for (std::size_t i = 1; i < events.size(); ++i) gaps.push_back(events[i] - events[i - 1]);
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  const std::uint64_t median = gaps[gaps.size() / 2];
  const auto near =
      std::ranges::count_if(gaps, [&](std::uint64_t gap) { return gap * 2 >= median && gap <= median * 2; });
  return static_cast<std::size_t>(near) * 5 >= gaps.size() * 4;
}

/// Whether four of five allocations of a step are freed by the end of the next one. In a single pass through
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
  return freed * 5 >= all * 4;
}

/// Most regular stacks have one allocation per step, or one per layer. The number of allocations that most
/// have and whose first stack gives back what a step allocates is that of the steps.
AllocationSteps of_rhythm(const trace::Snapshot& snapshot, const AllocatorReplay& replay) {
  const ByStack by_stack(replay.device().events, snapshot.stacks.size());
  std::map<std::size_t, std::vector<trace::StackId>> regular;  // by number of allocations
  for (trace::StackId stack = 1; stack < by_stack.stacks(); ++stack) {
    const auto of = by_stack[stack];
    if (of.size() >= kFewest && is_regular(of)) regular[of.size()].push_back(stack);
  }
  const auto stacks_of = [&](std::size_t count) {
    const auto found = regular.find(count);
    return found == regular.end() ? std::size_t{0} : found->second.size();
  };
  std::vector<std::pair<std::size_t, std::size_t>> votes;  // (votes, number of allocations)
  for (const auto& [count, stacks] : regular)              // a step at either end may be cut
    votes.emplace_back(stacks_of(count - 1) + 2 * stacks.size() + stacks_of(count + 1), count);
  std::ranges::sort(votes, std::greater{});
  constexpr std::size_t kTried = 8;
  for (std::size_t i = 0; i < std::min(kTried, votes.size()); ++i) {
    AllocationSteps steps{StepsFrom::rhythm, {}, trace::kNoStack};
    steps.stack = *std::ranges::min_element(regular[votes[i].second], {},
                                            [&](trace::StackId s) { return by_stack[s][0]; });
    const auto begins = by_stack[steps.stack];
    steps.begins.assign(begins.begin(), begins.end());
    if (gives_back(replay, steps.begins)) return steps;
  }
  return {};
}

}  // namespace

AllocationSteps allocation_steps(const trace::Trace& trace, const trace::Snapshot& snapshot,
                                 const AllocatorReplay& replay) {
  const trace::MemoryOfDevice& device = replay.device();
  const Column<std::int64_t>& times = device.events.time;
  if (!times.empty() && times.front() != trace::kNoTime)
    for (const std::string_view name : {"ProfilerStep#", "Optimizer.step#"}) {
      std::vector<std::uint32_t> begins = marked(trace, snapshot, device, name);
      if (begins.size() >= kFewest) return {StepsFrom::marks, std::move(begins), trace::kNoStack};
    }
  return of_rhythm(snapshot, replay);
}

}  // namespace stepscope::derive
