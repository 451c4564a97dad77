// The replay against formulas computed event by event.
#include "derive/allocator/allocator_replay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace stepscope::derive {
namespace {

using trace::MemoryAction;
using trace::MemoryBlock;
using trace::MemoryOfDevice;

void add(MemoryOfDevice& device, MemoryAction action, std::uint64_t address, std::int64_t size,
         trace::StackId stack = 0) {
  device.events.action.push_back(action);
  device.events.address.push_back(address);
  device.events.size.push_back(size);
  device.events.stack.push_back(stack);
}

void add_block(MemoryOfDevice& device, std::uint64_t address, std::int64_t requested,
               MemoryBlock::State state) {
  device.blocks.push_back({address, requested, requested, 0, state});
}

std::int64_t sum(const std::vector<Allocation>& live) {
  return std::accumulate(live.begin(), live.end(), std::int64_t{0},
                         [](std::int64_t all, const Allocation& of) { return all + of.bytes; });
}

TEST(AllocatorReplay, ByHand) {
  MemoryOfDevice device;
  add(device, MemoryAction::segment_alloc, 0, 100);
  add(device, MemoryAction::alloc, 10, 30);
  add(device, MemoryAction::free_requested, 70, 5);  // older than the events
  add(device, MemoryAction::free_completed, 70, 5);
  add(device, MemoryAction::alloc, 20, 8);
  add(device, MemoryAction::free_requested, 10, 30);
  add(device, MemoryAction::alloc, 40, 4);
  add(device, MemoryAction::free_completed, 10, 30);
  add(device, MemoryAction::alloc, 10, 1);
  add(device, MemoryAction::segment_free, 500, 60, 3);
  add(device, MemoryAction::segment_alloc, 500, 50, 3);
  add(device, MemoryAction::oom, 9, 999);
  add_block(device, 10, 1, MemoryBlock::State::active);
  add_block(device, 20, 8, MemoryBlock::State::active);
  add_block(device, 40, 4, MemoryBlock::State::pending_free);
  add_block(device, 80, 7, MemoryBlock::State::active);  // older than the events
  add_block(device, 90, 70, MemoryBlock::State::inactive);
  device.segments.push_back({0, 150, 0, 0, 0, 0, 0, 0, 0, 0, false, false});
  const AllocatorReplay replay(device);
  EXPECT_EQ(replay.start, 12);  // 5 + 7
  EXPECT_EQ(replay.end, 20);
  EXPECT_EQ(replay.in_use, 20);
  EXPECT_EQ(replay.residual(), 0);
  EXPECT_EQ(replay.peak, 49);  // 7 + 30 + 8 + 4
  EXPECT_EQ(replay.peak_event, 6);
  EXPECT_EQ(replay.peak_pending, 30);
  EXPECT_EQ(replay.end_reserved, 150);
  EXPECT_EQ(replay.peak_reserved, 160);
  EXPECT_EQ(replay.reserved_at(-1), 60);
  EXPECT_EQ(replay.reserved_at(9), 100);
  EXPECT_EQ(replay.unmatched_frees, 1);
  EXPECT_EQ(replay.retries, 2);
  EXPECT_EQ(replay.oom_request, 999);
  EXPECT_EQ(replay.partner(1), 7u);
  EXPECT_EQ(replay.partner(5), 1u);
  EXPECT_EQ(replay.partner(3), kNoEvent);
  EXPECT_EQ(sum(replay.live_at(-1)), 12);
  EXPECT_EQ(sum(replay.live_at(6)), 49);
  EXPECT_EQ(sum(replay.live_at(11)), 20);
}

TEST(AllocatorReplay, WithoutCompletedFreesAndWithLostFrees) {
  MemoryOfDevice device;
  add(device, MemoryAction::alloc, 10, 30);
  add(device, MemoryAction::free_requested, 10, 30);
  add(device, MemoryAction::alloc, 10, 20);
  add(device, MemoryAction::alloc, 10, 5);  // no event freed it before
  const AllocatorReplay replay(device);
  EXPECT_TRUE(replay.by_request);
  EXPECT_EQ(replay.peak, 30);
  EXPECT_EQ(replay.end, 5);
  EXPECT_EQ(replay.reused, 1);
  EXPECT_EQ(replay.residual(), 5);
  EXPECT_EQ(sum(replay.live_at(3)), 5);
}

TEST(AllocatorReplay, NothingOverflows) {
  MemoryOfDevice device;
  for (std::uint64_t i = 0; i < 20'000; ++i) add(device, MemoryAction::alloc, i, std::int64_t{1} << 50);
  const AllocatorReplay replay(device);
  EXPECT_EQ(replay.peak, std::numeric_limits<std::int64_t>::max());
}

/// 30,000 random events: levels and live sets at many instants, beside a map that is replayed from the start.
TEST(AllocatorReplay, LiveSetsAtAnyInstant) {
  std::mt19937_64 random(7);
  MemoryOfDevice device;
  std::map<std::uint64_t, std::int64_t> live;
  std::vector<std::map<std::uint64_t, std::int64_t>> after;
  for (int i = 0; i < 300; ++i) live[1'000'000 + i] = 3;  // before the events
  for (int i = 0; i < 300; i += 3) add_block(device, 1'000'000 + i, 3, MemoryBlock::State::active);
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t address = random() % 500;
    const bool old = i % 50 == 0 && i / 50 < 200;
    const std::uint64_t of = old ? 1'000'000 + static_cast<std::uint64_t>(i / 50) / 2 * 3 + 1 +
                                       static_cast<std::uint64_t>(i / 50 % 2)
                                 : address;
    if (const auto found = live.find(of); found != live.end()) {
      add(device, MemoryAction::free_completed, of, found->second);
      live.erase(found);
    } else {
      const auto size = static_cast<std::int64_t>(random() % 1000 + 1);
      add(device, MemoryAction::alloc, of, size);
      live[of] = size;
    }
    if (i % 997 == 0 || i == 4095 || i == 4096)
      after.resize(static_cast<std::size_t>(i) + 1), after.back() = live;
  }
  for (const auto& [address, size] : live)
    if (address < 1'000'000) add_block(device, address, size, MemoryBlock::State::active);
  const AllocatorReplay replay(device);
  EXPECT_EQ(replay.start, 900);
  EXPECT_EQ(replay.residual(), 0);
  std::int64_t compared = 0;
  for (std::size_t e = 0; e < after.size(); ++e) {
    if (after[e].empty()) continue;
    ++compared;
    std::map<std::uint64_t, std::int64_t> found;
    for (const Allocation& of : replay.live_at(static_cast<std::int64_t>(e))) found[of.address] = of.bytes;
    EXPECT_EQ(found, after[e]) << e;
    EXPECT_EQ(replay.requested_at(static_cast<std::int64_t>(e)),
              sum(replay.live_at(static_cast<std::int64_t>(e))));
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace stepscope::derive
