// The parts of a question that analyses share: which steps, and whose row is this when several ranks are
// open.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "report/params.h"
#include "report/table.h"
#include "timeline/interval.h"
#include "trace/trace.h"

namespace stepscope::analyze {

/// Of a trace without device work, what to do about it.
inline constexpr const char* kNoDeviceNote =
    "No device activity is recorded. Record with ProfilerActivity.CUDA (or XPU, MTIA …) beside CPU.";

/// `--step`: one step's number, or a range "3-5". Without it every row is meant, also those outside all
/// steps.
class StepChoice {
 public:
  explicit StepChoice(const report::Params& params);
  bool all() const { return first_ > last_; }
  bool includes(const trace::Step& step) const {
    return all() || (first_ <= step.number && step.number <= last_);
  }
  bool includes(const trace::Rank& rank, trace::Row row) const {
    if (all()) return true;
    const std::int32_t step = rank.events.step[row];
    return step >= 0 && includes(rank.steps[static_cast<std::size_t>(step)]);
  }

 private:
  std::int64_t first_ = 1, last_ = 0;
};

/// A time of the file as the double that tools in Python read.
double microseconds(std::int64_t ns);

/// Earliest start of any timed row: the zero of every time an analysis prints.
std::int64_t origin_of(const trace::Rank& rank);

/// The name of the machine that it ran on; "" when the file does not say.
std::string host_of(const trace::Rank& rank);

/// The stretch that shares and averages are taken over: first chosen step's start to the last one's device
/// end.
timeline::Interval window_of(const trace::Rank& rank, const StepChoice& steps);

/// A step as the device saw it: steps are contiguous, each ends with the last device event it launched (or
/// with its host range when that ends later), and the next begins there.
struct StepSpan {
  std::size_t index;  ///< into Rank::steps
  timeline::Interval span;
  std::int64_t device_events;  ///< launched in it
  bool partial;                ///< a last step with under 80 % of the previous one's device events
  /// From the previous step's device end (the first: from its begin) to its own; kNoInt without device
  /// events.
  std::int64_t device_length;
};
std::vector<StepSpan> step_spans(const trace::Rank& rank);

}  // namespace stepscope::analyze
