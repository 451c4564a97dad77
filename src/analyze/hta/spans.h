// Device events as HTA's breakdowns see them: the type of each event, and when it was launched.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/counters.h"
#include "analyze/derived.h"
#include "analyze/hta/rows.h"
#include "timeline/interval.h"

namespace stepscope::analyze::hta {

struct DeviceSpan {
  Time start = 0, end = 0;
  Time launched = trace::kNoTime, call_end = trace::kNoTime;  ///< start and end of `call`
  std::int64_t stream = -1, correlation = -1;
  Row row = trace::kNoRow;
  Row call = trace::kNoRow;  ///< the call that launched it
  KernelType type = KernelType::other;
  bool works = true;  ///< false for other events, such as waits recorded on the stream
};

/// Spans of all devices of one rank.
struct DeviceSpans {
  const trace::Rank* rank = nullptr;
  Time earliest = 0;              ///< offset: file time = time + earliest
  Time duration = 0;              ///< from the start of the rank's first event to the start of its last event
  std::vector<DeviceSpan> spans;  ///< in HTA's order
};

/// One entry per rank.
const std::vector<DeviceSpans>& spans_of(const Derived& derived, const report::Params& params);

/// Union of the spans of one type, or of all.
timeline::IntervalSet covered(const DeviceSpans& of, std::optional<KernelType> type = {});
/// Length of this union. Events of -1 µs that overlap no other event shorten it.
Time covered_length(const DeviceSpans& of, std::optional<KernelType> type = {});

}  // namespace stepscope::analyze::hta
