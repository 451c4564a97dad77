// Queue lengths and copy rates over time, as HTA computes them, for its tables and drawings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyze/counters.h"
#include "analyze/hta/spans.h"

namespace stepscope::analyze::hta {

using Lengths = std::vector<CounterChange<std::int64_t>>;  ///< launched work that has not begun
using Rates = std::vector<CounterChange<double>>;          ///< bytes/s

/// Queue lengths by stream id.
std::map<std::int64_t, Lengths> queues_of(const trace::Trace& trace, const DeviceSpans& of);
/// Rates by kind of copy: sums over the copies that run at the same time.
std::map<std::string, Rates> rates_of(const trace::Trace& trace, const DeviceSpans& of);

}  // namespace stepscope::analyze::hta
