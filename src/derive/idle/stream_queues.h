// Numbers that change at instants, and the queue of launched work of each stream.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/sort_runs.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::derive {

/// A change of a number at `time`; after running_sums(), the number's value from `time` on.
template <class Value>
struct CounterChange {
  timeline::Time time;
  Value value;
};

/// Sorts changes by time, at equal times by `before`, and replaces each by the running sum. O(n) if they come
/// in few ascending runs.
template <class Value, class Before>
void running_sums(std::vector<CounterChange<Value>>& changes, Before before) {
  sort_runs(changes, [&](const CounterChange<Value>& a, const CounterChange<Value>& b) {
    return a.time != b.time ? a.time < b.time : before(a.value, b.value);
  });
  Value sum = 0;
  for (CounterChange<Value>& change : changes) change.value = sum += change.value;
}

/// At equal times, launches (+1) come before starts (-1).
inline void queue_lengths(std::vector<CounterChange<std::int64_t>>& changes) {
  running_sums(changes, [](std::int64_t a, std::int64_t b) { return a > b; });
}

/// Work that was launched on a stream and has not begun.
struct StreamQueue {
  std::int64_t device, stream;
  trace::Row first;  ///< its earliest row
  std::vector<CounterChange<std::int64_t>> lengths;
};

/// By device, then stream. Only of device work with a recorded launch for which `counts(row)` is true.
template <class Counts>
std::vector<StreamQueue> stream_queues(const trace::Rank& rank, Counts counts) {
  const trace::EventTable& e = rank.events;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<trace::Row>> rows;
  for (const trace::Row row : rank.device_rows())
    if (is_device_work(e.kind[row]) && e.launch[row] != trace::kNoRow && counts(row))
      rows[{rank.tracks[e.track[row]].device, rank.tracks[e.track[row]].stream}].push_back(row);
  std::vector<StreamQueue> queues;
  for (const auto& [stream, of_stream] : rows) {
    StreamQueue queue{stream.first, stream.second, of_stream.front(), {}};
    queue.lengths.reserve(2 * of_stream.size());
    for (const trace::Row row : of_stream) queue.lengths.push_back({e.start[e.launch[row]], 1});
    for (const trace::Row row : of_stream) queue.lengths.push_back({e.start[row], -1});
    queue_lengths(queue.lengths);
    queues.push_back(std::move(queue));
  }
  return queues;
}

}  // namespace stepscope::derive
