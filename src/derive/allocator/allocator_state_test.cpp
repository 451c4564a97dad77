// Segments, blocks and gaps after an event, counted by hand, and against a simulation of the allocator.
#include "derive/allocator/allocator_state.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace stepscope::derive {
namespace {

using trace::MemoryAction;
using trace::MemoryBlock;
using trace::MemoryOfDevice;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

void happen(MemoryOfDevice& device, MemoryAction action, std::uint64_t address, std::int64_t size) {
  device.events.action.push_back(action);
  device.events.address.push_back(address);
  device.events.size.push_back(size);
  device.events.stack.push_back(0);
  device.events.stream.push_back(0);
  device.events.pool.push_back(0);
}

trace::MemorySegment segment(std::uint64_t address, std::int64_t size, bool expandable = false) {
  return {address, size, 0, 0, 0, 0, 0, 0, 0, 0, true, expandable};
}

TEST(AllocatorState, ByHand) {
  MemoryOfDevice device;
  device.segments = {segment(0, 8192)};
  device.blocks.push_back({0, 1024, 1000, 0, MemoryBlock::State::active});
  device.blocks.push_back({2048, 6144, 5000, 0, MemoryBlock::State::active});  // not split: 6,144 for 5,000
  happen(device, MemoryAction::alloc, 0, 1000);
  happen(device, MemoryAction::alloc, 1024, 700);  // rounded to 1,024
  happen(device, MemoryAction::alloc, 2048, 5000);
  happen(device, MemoryAction::segment_free, 20000, 4096);
  happen(device, MemoryAction::free_requested, 1024, 700);
  happen(device, MemoryAction::snapshot, 0, 0);
  happen(device, MemoryAction::free_completed, 1024, 700);
  const AllocatorReplay replay(device);

  const auto before = segments_at(replay, 2);
  ASSERT_EQ(before.size(), 2u);
  ASSERT_EQ(before[0].used.size(), 3u);
  EXPECT_EQ(before[0].used[1].size, 1024);
  EXPECT_EQ(before[0].used[2].size, 6144);
  EXPECT_TRUE(before[0].gaps.empty());
  EXPECT_TRUE(before[1].wholly_free());
  ASSERT_EQ(before[1].gaps.size(), 1u);
  EXPECT_EQ(before[1].gaps[0].size, 4096);

  const auto waiting = segments_at(replay, 5);
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_FALSE(waiting[0].used[0].pending);
  EXPECT_TRUE(waiting[0].used[1].pending);

  const auto end = segments_at(replay, 6);
  ASSERT_EQ(end[0].used.size(), 2u);
  ASSERT_EQ(end[0].gaps.size(), 1u);
  EXPECT_EQ(end[0].gaps[0].address, 1024u);
  EXPECT_EQ(end[0].gaps[0].size, 1024);

  const auto start = segments_at(replay, -1);
  ASSERT_EQ(start.size(), 2u);
  EXPECT_TRUE(start[0].wholly_free());
}

TEST(AllocatorState, ExpandableSegmentsGrowAndShrink) {
  MemoryOfDevice device;
  device.segments = {segment(2 * kMiB, 4 * kMiB, true)};
  happen(device, MemoryAction::segment_map, 0, 4 * kMiB);
  happen(device, MemoryAction::segment_map, 4 * kMiB, 4 * kMiB);
  happen(device, MemoryAction::segment_unmap, 0, 2 * kMiB);
  happen(device, MemoryAction::segment_unmap, 6 * kMiB, 2 * kMiB);
  const AllocatorReplay replay(device);
  const auto sizes = [&](std::int64_t event) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> out;
    for (const HeldSegment& of : segments_at(replay, event)) out.emplace_back(of.address, of.size);
    return out;
  };
  using Sizes = std::vector<std::pair<std::uint64_t, std::int64_t>>;
  EXPECT_EQ(sizes(3), (Sizes{{2 * kMiB, 4 * kMiB}}));
  EXPECT_EQ(sizes(2), (Sizes{{2 * kMiB, 6 * kMiB}}));
  EXPECT_EQ(sizes(1), (Sizes{{0, 8 * kMiB}}));
  EXPECT_EQ(sizes(0), (Sizes{{0, 4 * kMiB}}));
  EXPECT_EQ(sizes(-1), Sizes{});
}

TEST(AllocatorState, PagesAreWhole) {
  EXPECT_EQ((Gap{0, 2 * kMiB}.pages()), 2 * kMiB);
  EXPECT_EQ((Gap{512, 2 * kMiB}.pages()), 0);
  EXPECT_EQ((Gap{512, 6 * kMiB}.pages()), 4 * kMiB);
  EXPECT_EQ((Gap{2 * kMiB, 512}.pages()), 0);
}

TEST(AllocatorState, SizesOfTheAllocator) {
  EXPECT_EQ(rounded(0), 512);
  EXPECT_EQ(rounded(512), 512);
  EXPECT_EQ(rounded(513), 1024);
  EXPECT_EQ(segment_for(kMiB), 2 * kMiB);
  EXPECT_EQ(segment_for(kMiB + 1), 20 * kMiB);
  EXPECT_EQ(segment_for(10 * kMiB), 10 * kMiB);
  EXPECT_EQ(segment_for(10 * kMiB + 1), 12 * kMiB);
}

// At every event of a random history, segments hold the blocks and gaps that a map of the same events holds.
TEST(AllocatorState, TilesSegmentsAtEveryEvent) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    MemoryOfDevice device;
    std::map<std::uint64_t, std::int64_t> segments, blocks;
    std::vector<std::pair<std::map<std::uint64_t, std::int64_t>, std::map<std::uint64_t, std::int64_t>>>
        truth;
    const auto is_free = [&](std::uint64_t begin, std::uint64_t end) {
      for (const auto& [address, size] : blocks)
        if (address < end && begin < address + static_cast<std::uint64_t>(size)) return false;
      return true;
    };
    for (int e = 0; e < 200; ++e) {
      const std::uint64_t address = random() % 8 * 8192;
      const std::uint64_t at = address + random() % 8 * 1024;
      if (!segments.contains(address)) {
        segments[address] = 8192;
        happen(device, MemoryAction::segment_alloc, address, 8192);
      } else if (blocks.contains(at)) {
        blocks.erase(at);
        happen(device, MemoryAction::free_completed, at, 1000);
      } else if (is_free(address, address + 8192) && random() % 4 == 0) {
        segments.erase(address);
        happen(device, MemoryAction::segment_free, address, 8192);
      } else {
        blocks[at] = 1024;
        happen(device, MemoryAction::alloc, at, 1000);
      }
      truth.emplace_back(segments, blocks);
    }
    for (const auto& [address, size] : segments) device.segments.push_back(segment(address, size));
    for (const auto& [address, size] : blocks)
      device.blocks.push_back({address, size, 1000, 0, MemoryBlock::State::active});
    const AllocatorReplay replay(device);
    for (std::size_t e = 0; e < truth.size(); ++e) {
      std::map<std::uint64_t, std::int64_t> held, used;
      for (const HeldSegment& of : segments_at(replay, static_cast<std::int64_t>(e))) {
        held[of.address] = of.size;
        std::int64_t sum = 0;
        for (const UsedBlock& block : of.used) {
          used[block.allocation.address] = block.size;
          sum += block.size;
        }
        for (const Gap& gap : of.gaps) sum += gap.size;
        EXPECT_EQ(sum, of.size);
      }
      ASSERT_EQ(held, truth[e].first) << e;
      ASSERT_EQ(used, truth[e].second) << e;
    }
  }
}

}  // namespace
}  // namespace stepscope::derive
