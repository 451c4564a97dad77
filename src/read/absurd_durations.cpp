#include "read/absurd_durations.h"

#include <algorithm>
#include <functional>

#include "base/parallel.h"

namespace stepscope::read {
namespace {

using Wide = __int128;

/// The longest duration that may stay.
std::int64_t longest_kept(const std::vector<Batch>& batches, Wide total) {
  std::vector<std::int64_t> durations;
  for (const Batch& batch : batches)
    for (trace::Row row = 0; row < batch.events.size(); ++row)
      if (batch.events.duration(row) > 0) durations.push_back(batch.events.duration(row));
  std::sort(durations.begin(), durations.end(), std::greater<>());
  auto longest = durations.begin();
  while (total > kMostTotalTime) {
    const std::int64_t dropped = *longest;
    for (; longest != durations.end() && *longest == dropped; ++longest) total -= dropped;
  }
  return longest == durations.end() ? 0 : *longest;
}

}  // namespace

void drop_absurd_durations(trace::Rank& rank, std::vector<Batch>& batches, unsigned threads) {
  std::vector<Wide> totals(batches.size());
  parallel_for(batches.size(), threads, [&](std::size_t b) {
    const trace::EventTable& rows = batches[b].events;
    for (trace::Row row = 0; row < rows.size(); ++row) totals[b] += rows.duration(row);
  });
  Wide total = 0;
  for (const Wide part : totals) total += part;
  if (total <= kMostTotalTime) return;
  const std::int64_t most = longest_kept(batches, total);
  for (Batch& batch : batches) {
    for (trace::Row row = 0; row < batch.events.size(); ++row) {
      if (batch.events.duration(row) <= most) continue;
      batch.events.end[row] = batch.events.start[row];
      ++rank.reading.clamped_times;
    }
  }
}

}  // namespace stepscope::read
