#include "read/kineto/absurd_durations.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace stepscope::read {
namespace {

using Wide = __int128;

/// The longest duration that may stay.
std::int64_t longest_kept(const trace::EventTable& rows, Wide total) {
  std::vector<std::int64_t> durations;
  for (trace::Row row = 0; row < rows.size(); ++row)
    if (rows.duration(row) > 0) durations.push_back(rows.duration(row));
  std::sort(durations.begin(), durations.end(), std::greater<>());
  auto longest = durations.begin();
  while (total > kMaxTotalTime) {
    const std::int64_t dropped = *longest;
    for (; longest != durations.end() && *longest == dropped; ++longest) total -= dropped;
  }
  return longest == durations.end() ? 0 : *longest;
}

}  // namespace

void drop_absurd_durations(trace::Rank& rank) {
  trace::EventTable& rows = rank.events;
  Wide total = 0;
  for (trace::Row row = 0; row < rows.size(); ++row) total += rows.duration(row);
  if (total <= kMaxTotalTime) return;
  const std::int64_t most = longest_kept(rows, total);
  for (trace::Row row = 0; row < rows.size(); ++row) {
    if (rows.duration(row) <= most) continue;
    rows.end[row] = rows.start[row];
    ++rank.reading.clamped_times;
  }
}

}  // namespace stepscope::read
