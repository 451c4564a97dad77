// Numbers that change over time (queues of launched work, rates of copies), and how they are drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// A change of a number at `time`; after running_sums(), the number's value from `time` on.
template <class Value>
struct CounterChange {
  timeline::Time time;
  Value value;
};

/// Sorts changes by time, at equal times by `before`, and replaces each by the running sum.
template <class Value, class Before>
void running_sums(std::vector<CounterChange<Value>>& changes, Before before) {
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const CounterChange<Value>& a, const CounterChange<Value>& b) {
                     return a.time != b.time ? a.time < b.time : before(a.value, b.value);
                   });
  Value sum = 0;
  for (CounterChange<Value>& change : changes) change.value = sum += change.value;
}
/// At equal times, launches (+1) come before starts (-1).
inline void queue_lengths(std::vector<CounterChange<std::int64_t>>& changes) {
  running_sums(changes, [](std::int64_t a, std::int64_t b) { return a > b; });
}
inline void running_rates(std::vector<CounterChange<double>>& changes) {
  running_sums(changes, [](double, double) { return false; });
}

class Sketch;
/// Draws one counter: a stream's queue, or the rate of one kind of copy. Times are those of the file. `row`:
/// an event of the process that gets the counter.
void draw_queue(Sketch& sketch, std::int64_t stream, const std::vector<CounterChange<std::int64_t>>& lengths,
                trace::Row row);
void draw_rate(Sketch& sketch, const std::string& kind, const std::vector<CounterChange<double>>& rates,
               trace::Row row);

inline constexpr const char* kNoLaunchNote =
    "No device work has a recorded launch call: record ProfilerActivity.CPU together with the device's "
    "activity, and more than one step.";
inline constexpr const char* kNoCopyNote =
    "No copies or fills of a device are recorded, so there is no rate to show.";

/// "Memset", "Memcpy HtoD", or "Memcpy Unknown".
std::string copy_kind(std::string_view name);

}  // namespace stepscope::analyze
