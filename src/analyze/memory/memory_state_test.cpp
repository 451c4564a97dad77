// memory_state over small snapshots, counted by hand, and its sums over random ones.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analyze/memory/made_snapshot_for_test.h"

namespace stepscope {
namespace {

using test::Cells;
using test::cells;
using test::kMiB;

TEST(MemoryState, JustBeforeTheFailure) {
  const trace::Trace trace = test::split(20 * kMiB, 5 * kMiB).open();
  const report::Table map = test::answer("memory_state", trace).tables[0];
  EXPECT_EQ(cells(map, "segment"), Cells(4, "0x6400000"));
  EXPECT_EQ(cells(map, "offset"), (Cells{"0", "15728640", "31457280", "47185920"}));
  EXPECT_EQ(cells(map, "size"), Cells(4, "15728640"));
  EXPECT_EQ(cells(map, "state"), (Cells{"free", "used", "free", "used"}));
  EXPECT_EQ(cells(map, "place"), (Cells{"-", "/home/a/train.py(2): step", "-", "/home/a/train.py(4): step"}));
  EXPECT_EQ(cells(map, "free"), (Cells{"15728640", "0", "15728640", "0"}));
  EXPECT_EQ(cells(map, "blocks"), (Cells{"0", "1", "0", "1"}));
  const report::Table peak = test::answer("memory_state", trace, test::params({{"at", "peak"}})).tables[0];
  EXPECT_EQ(cells(peak, "state"), Cells(4, "used"));
}

TEST(MemoryState, NeighboursAreJoined) {
  test::MadeSnapshot made;
  const std::int64_t at = 64 * kMiB;
  made.event("alloc", at, kMiB, 1);
  made.event("alloc", at + kMiB, 2 * kMiB, 1);
  made.event("alloc", at + 3 * kMiB, 1000, 2);  // small: joined with the gap of 512 and the next one
  made.event("alloc", at + 3 * kMiB + 1536, 512, 3);
  made.segment(at, {{kMiB, kMiB}, {2 * kMiB, 2 * kMiB}, {1024, 1000}, {512, 0}, {512, 512}, {5 * kMiB, 0}});
  const report::Table map = test::answer("memory_state", made.open()).tables[0];
  EXPECT_EQ(cells(map, "size"), (Cells{"3145728", "2048", "5242880"}));
  EXPECT_EQ(cells(map, "state"), (Cells{"used", "mixed", "free"}));
  EXPECT_EQ(cells(map, "place"), (Cells{"/home/a/train.py(1): step", "several places", "-"}));
  EXPECT_EQ(cells(map, "blocks"), (Cells{"2", "2", "0"}));
  EXPECT_EQ(cells(map, "largest_free"), (Cells{"0", "512", "5242880"}));
}

/// Random blocks in one segment: rows tile it, and have its bytes and blocks, at any instant.
TEST(MemoryState, RowsTileTheSegment) {
  std::mt19937_64 random(11);
  constexpr std::int64_t kBegin = 512 * kMiB, kSlots = 3000, kSlot = 4096;
  test::MadeSnapshot made;
  std::map<std::int64_t, std::int64_t> live;
  std::vector<std::int64_t> counts;
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t slot = static_cast<std::int64_t>(random() % kSlots);
    const std::int64_t address = kBegin + slot * kSlot;
    if (const auto found = live.find(slot); found != live.end()) {
      made.event("free_completed", address, found->second, 1);
      live.erase(found);
    } else {
      live[slot] = static_cast<std::int64_t>(random() % kSlot) + 1;
      made.event("alloc", address, live[slot], static_cast<int>(random() % 9) + 1);
    }
    counts.push_back(static_cast<std::int64_t>(live.size()));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> blocks;
  for (std::int64_t slot = 0; slot < kSlots; ++slot)
    blocks.emplace_back(kSlot, live.contains(slot) ? live[slot] : 0);
  made.segment(kBegin, blocks);
  const trace::Trace trace = made.open();
  for (const int at : {0, 700, 2000, 3999}) {
    const report::Table map =
        test::answer("memory_state", trace, test::params({{"at", std::to_string(at)}})).tables[0];
    const auto ints = [&](const char* column) { return std::get<report::Ints>(map.column(column)->values); };
    const report::Ints offsets = ints("offset"), sizes = ints("size"), used = ints("blocks");
    std::int64_t end = 0, all = 0;
    for (std::size_t row = 0; row < map.rows(); ++row) {
      EXPECT_EQ(offsets[row], end) << at;
      end += sizes[row];
      all += used[row];
    }
    EXPECT_EQ(end, kSlots * kSlot) << at;
    EXPECT_EQ(all, counts[static_cast<std::size_t>(at)]) << at;
    EXPECT_LE(map.rows(), 600u) << at;
  }
}

}  // namespace
}  // namespace stepscope
