// Queues and rates over time, as HTA has them: told by queue_length and memory_bandwidth, and drawn.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/counters.h"
#include "analyze/hta/spans.h"

namespace stepscope::analyze::hta {

using Lengths = std::vector<CounterChange<std::int64_t>>;  ///< launched work that has not begun
using Rates = std::vector<CounterChange<double>>;          ///< bytes/s

/// By stream, in the order of their ids.
std::map<std::int64_t, Lengths> queues_of(const trace::Trace& trace, const DeviceSpans& of);
/// By kind of copy: sums of what runs at a time.
std::map<std::string, Rates> rates_of(const trace::Trace& trace, const DeviceSpans& of);

}  // namespace stepscope::analyze::hta
