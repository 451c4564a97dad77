// Device events as HTA's breakdowns look at them: what each is, and when it was launched.
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
  Time launched = trace::kNoTime, call_end = trace::kNoTime;  ///< of the call that launched it
  std::int64_t stream = -1, correlation = -1;
  Row row = trace::kNoRow;
  Row call = trace::kNoRow;  ///< that launched it
  KernelType type = KernelType::other;
  bool works = true;  ///< false: a wait that was recorded on the stream
};

/// Of all devices of one rank.
struct DeviceSpans {
  const trace::Rank* rank = nullptr;
  Time earliest = 0;              ///< what its times lack to those of the file
  Time duration = 0;              ///< from the start of the rank's first event to the start of its last one
  std::vector<DeviceSpan> spans;  ///< in HTA's order
};

/// A row per rank.
const std::vector<DeviceSpans>& spans_of(const Derived& derived, const report::Params& params);

/// Of the spans of one type, or of all.
timeline::IntervalSet covered(const DeviceSpans& of, std::optional<KernelType> type = {});
/// Length of what they cover. Events of -1 µs, which overlap no other, shorten the sum.
Time covered_length(const DeviceSpans& of, std::optional<KernelType> type = {});

}  // namespace stepscope::analyze::hta
