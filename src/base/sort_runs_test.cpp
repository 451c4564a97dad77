#include "base/sort_runs.h"

#include <gtest/gtest.h>

#include <random>

namespace stepscope {
namespace {

using Pair = std::pair<int, int>;

bool by_key(const Pair& a, const Pair& b) { return a.first < b.first; }

/// Keys in `runs` ascending runs of `length` each, numbered in order.
std::vector<Pair> runs_of(std::size_t runs, std::size_t length, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Pair> items;
  for (std::size_t run = 0; run < runs; ++run) {
    int key = 0;
    for (std::size_t i = 0; i < length; ++i) {
      key += static_cast<int>(random() % 3);
      items.emplace_back(key, static_cast<int>(items.size()));
    }
  }
  return items;
}

TEST(SortRuns, SortsAndKeepsTheOrderOfEqualKeys) {
  for (const std::size_t runs : {0, 1, 2, 3, 5, 8, 17})
    for (const std::size_t length : {1, 2, 40, 333}) {
      std::vector<Pair> items = runs_of(runs, length, static_cast<unsigned>(runs * 1000 + length));
      std::vector<Pair> expected = items;
      std::stable_sort(expected.begin(), expected.end(), by_key);
      sort_runs(items, by_key);
      EXPECT_EQ(items, expected) << runs << " runs of " << length;
    }
}

TEST(SortRuns, ADescendingListIsSortedToo) {
  std::vector<int> items;
  for (int i = 100; i > 0; --i) items.push_back(i);
  sort_runs(items, std::less<>());
  EXPECT_TRUE(std::is_sorted(items.begin(), items.end()));
}

}  // namespace
}  // namespace stepscope
