// Numbers that change over time (queues of launched work, rates of copies), and how they are drawn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "derive/idle/stream_queues.h"
#include "trace/trace.h"

namespace stepscope::analyze {

using derive::CounterChange;
using derive::queue_lengths;
inline void running_rates(std::vector<CounterChange<double>>& changes) {
  derive::running_sums(changes, [](double, double) { return false; });
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
