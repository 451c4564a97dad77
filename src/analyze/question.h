// Used by several analyses: the choice of steps, the window they span, and the origin of printed times.
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

/// Note for a trace without device work.
inline constexpr const char* kNoDeviceNote =
    "No device activity is recorded. Record with ProfilerActivity.CUDA (or XPU, MTIA …) and CPU.";

/// `--step`: one step's number, or a range "3-5". Without it every row is included, even rows outside all
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

/// A time of the file, ns, as the double in µs that Python tools read.
double microseconds(std::int64_t ns);

/// Earliest start of any timed row, 0 without one. Analyses print times relative to it.
std::int64_t origin_of(const trace::Rank& rank);

/// The window for shares and averages: from the first chosen step's begin to the last chosen step's end, as
/// StepSpans. Without a choice, a partial last step is left out.
timeline::Interval window_of(const trace::Rank& rank, const StepChoice& steps);

/// A step on the device: it ends with the last device event it launched, or with its host range if that ends
/// later. The next step begins there, or at its own start if that is later.
struct StepSpan {
  std::size_t index;  ///< into Rank::steps
  timeline::Interval span;
  std::int64_t device_events;  ///< launched in the step
  bool partial;                ///< a last step with under 80 % of the previous step's device events
  /// From the previous step's device end (for the first: from its begin) to this step's device end; kNoInt
  /// without device events.
  std::int64_t device_length;
};
std::vector<StepSpan> step_spans(const trace::Rank& rank);

}  // namespace stepscope::analyze
