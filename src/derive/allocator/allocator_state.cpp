#include "derive/allocator/allocator_state.h"

#include <algorithm>
#include <limits>
#include <map>

#include "derive/allocator/level_walk.h"

namespace stepscope::derive {
namespace {

using trace::AllocatorEvents;
using trace::MemoryAction;
using trace::MemoryBlock;
using trace::MemoryOfDevice;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kPage = 2 * kMebibyte;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return value > std::numeric_limits<std::int64_t>::max() - unit ? value : (value + unit - 1) / unit * unit;
}

/// Segments by address, and the inverse of each event that changes them.
class Segments {
 public:
  explicit Segments(const MemoryOfDevice& device) {
    for (const trace::MemorySegment& of : device.segments)
      put({of.address, of.size, of.stream, of.pool, of.large, of.expandable, {}, {}});
  }

  void undo(const AllocatorEvents& events, std::uint32_t e) {
    const std::uint64_t address = events.address[e];
    const std::int64_t size = events.size[e];
    if (address == trace::kNoAddress || !sound(address, size)) return;
    switch (events.action[e]) {
      case MemoryAction::segment_alloc:
        held_.erase(address);
        break;
      case MemoryAction::segment_free:
        put(of_event(events, e, false));
        break;
      case MemoryAction::segment_map:
        cut(address, address + static_cast<std::uint64_t>(size));
        break;
      case MemoryAction::segment_unmap:
        join(of_event(events, e, true));
        break;
      default:
        break;
    }
  }

  std::vector<HeldSegment> take() {
    std::vector<HeldSegment> out;
    for (auto& [address, of] : held_)
      if (out.empty() || end_of(out.back()) <= address) out.push_back(std::move(of));
    return out;
  }

  static std::uint64_t end_of(const HeldSegment& of) {
    return of.address + static_cast<std::uint64_t>(of.size);
  }
  static bool sound(std::uint64_t address, std::int64_t size) {
    return size > 0 &&
           address <= std::numeric_limits<std::uint64_t>::max() - static_cast<std::uint64_t>(size);
  }

 private:
  static HeldSegment of_event(const AllocatorEvents& events, std::uint32_t e, bool expandable) {
    const std::uint16_t stream = events.stream.empty() ? std::uint16_t{0} : events.stream[e];
    const std::uint16_t pool = events.pool.empty() ? std::uint16_t{0} : events.pool[e];
    return {events.address[e], events.size[e], stream, pool, events.size[e] > kPage, expandable, {}, {}};
  }

  void put(HeldSegment of) {
    if (sound(of.address, of.size)) held_.insert_or_assign(of.address, std::move(of));
  }

  /// Removes [begin, end) from the segment around it.
  void cut(std::uint64_t begin, std::uint64_t end) {
    auto around = held_.upper_bound(begin);
    if (around == held_.begin()) return;
    --around;
    HeldSegment of = around->second;
    const std::uint64_t behind = end_of(of);
    if (behind < end || begin < of.address) return;
    held_.erase(around);
    HeldSegment left = of, right = of;
    left.size = static_cast<std::int64_t>(begin - of.address);
    right.address = end;
    right.size = static_cast<std::int64_t>(behind - end);
    put(left);
    put(right);
  }

  /// Adds a range, joined with neighbours of the same stream.
  void join(HeldSegment of) {
    const auto fits = [&](const HeldSegment& other) { return other.expandable && other.stream == of.stream; };
    const auto after = held_.find(end_of(of));
    if (after != held_.end() && fits(after->second)) {
      of.size += after->second.size;
      of.pool = after->second.pool;
      of.large = after->second.large;
      held_.erase(after);
    }
    auto before = held_.lower_bound(of.address);
    if (before != held_.begin() && fits((--before)->second) && end_of(before->second) == of.address) {
      before->second.size += of.size;
      return;
    }
    put(std::move(of));
  }

  std::map<std::uint64_t, HeldSegment> held_;
};

/// Final sizes of blocks, by address.
std::vector<std::pair<std::uint64_t, std::int64_t>> final_sizes(const MemoryOfDevice& device) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> sizes;
  for (const MemoryBlock& block : device.blocks)
    if (block.state != MemoryBlock::State::inactive) sizes.emplace_back(block.address, block.size);
  std::ranges::sort(sizes);
  return sizes;
}

std::vector<UsedBlock> used_at(const AllocatorReplay& replay, std::int64_t event) {
  const auto sizes = final_sizes(replay.device());
  std::vector<std::uint32_t> pending;
  for (const DelayedFree& of : replay.delayed_frees())
    if (of.requested <= event && (of.completed == kNoEvent || of.completed > event))
      pending.push_back(of.allocation);
  std::ranges::sort(pending);
  std::vector<UsedBlock> used;
  for (Allocation& of : replay.live_at(event)) {
    std::int64_t size = rounded(of.bytes);
    if (of.freed == kNoEvent) {
      const auto found = std::ranges::lower_bound(sizes, std::pair(of.address, std::int64_t{0}));
      if (found != sizes.end() && found->first == of.address) size = found->second;
    }
    const bool waits = of.event != kNoEvent && std::ranges::binary_search(pending, of.event);
    used.push_back({of, size, waits});
  }
  std::ranges::stable_sort(used, {}, [](const UsedBlock& of) { return of.allocation.address; });
  return used;
}

void add_gap(HeldSegment& to, std::uint64_t begin, std::uint64_t end) {
  if (begin < end) to.gaps.push_back({begin, static_cast<std::int64_t>(end - begin)});
}

}  // namespace

std::int64_t Gap::pages() const {
  const std::uint64_t page = kPage, end = address + static_cast<std::uint64_t>(size);
  const std::uint64_t first = (address + page - 1) / page, behind = end / page;
  return behind > first ? static_cast<std::int64_t>((behind - first) * page) : 0;
}

std::int64_t segment_for(std::int64_t request) {
  if (!is_large(request)) return kPage;
  return request < 10 * kMebibyte ? 20 * kMebibyte : round_up(request, kPage);
}

std::vector<HeldSegment> segments_at(const AllocatorReplay& replay, std::int64_t event) {
  const AllocatorEvents& events = replay.device().events;
  Segments segments(replay.device());
  for (std::int64_t e = events.count(); --e > event;) segments.undo(events, static_cast<std::uint32_t>(e));
  std::vector<HeldSegment> out = segments.take();

  std::vector<UsedBlock> used = used_at(replay, event);
  std::size_t next = 0;
  for (HeldSegment& segment : out) {
    const std::uint64_t end = Segments::end_of(segment);
    std::uint64_t from = segment.address;
    while (next < used.size() && used[next].allocation.address < from) ++next;
    for (; next < used.size() && used[next].allocation.address < end; ++next) {
      UsedBlock& block = used[next];
      const bool last = next + 1 == used.size();
      const std::uint64_t room =
          std::min(end, last ? end : used[next + 1].allocation.address) - block.allocation.address;
      block.size = static_cast<std::int64_t>(std::min(room, static_cast<std::uint64_t>(block.size)));
      add_gap(segment, from, block.allocation.address);
      from = block.allocation.address + static_cast<std::uint64_t>(block.size);
      segment.used.push_back(block);
    }
    add_gap(segment, from, end);
  }
  return out;
}

}  // namespace stepscope::derive
