// Sorts nearly sorted sequences: the concatenated output of several sorted sources.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stepscope {

/// A stable sort. Finds ascending runs and merges them in pairs: O(n log runs), one pass if sorted. If runs
/// are short on average, it calls std::stable_sort.
template <class T, class Allocator, class Before>
void sort_runs(std::vector<T, Allocator>& items, Before before) {
  constexpr std::size_t kShortRun = 16;
  std::vector<std::size_t> runs{0};  // begins of the runs, then the end
  for (std::size_t i = 1; i < items.size(); ++i)
    if (before(items[i], items[i - 1])) runs.push_back(i);
  if (runs.size() == 1) return;
  if (runs.size() > items.size() / kShortRun) {
    std::stable_sort(items.begin(), items.end(), before);
    return;
  }
  runs.push_back(items.size());
  std::vector<T, Allocator> merged(items.size());
  const auto at = [](auto& list, std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
  while (runs.size() > 2) {
    std::vector<std::size_t> longer;
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      const std::size_t middle = runs[i + 1], end = i + 2 < runs.size() ? runs[i + 2] : middle;
      std::merge(at(items, runs[i]), at(items, middle), at(items, middle), at(items, end),
                 at(merged, runs[i]), before);
      longer.push_back(runs[i]);
    }
    longer.push_back(items.size());
    items.swap(merged);
    runs.swap(longer);
  }
}

}  // namespace stepscope
