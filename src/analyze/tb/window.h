// The plugin's steps: host marks moved to the device's time, the last ones cut off.
#pragma once

#include <string>
#include <vector>

#include "analyze/tb/events.h"
#include "analyze/tb/links.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::analyze::tb {

struct StepWindow {
  std::string name;         ///< the text behind "ProfilerStep#"; "0" for a trace without marks
  timeline::Interval span;  ///< ns since the first kept event
};

struct StepWindows {
  std::vector<StepWindow> steps;
  std::int64_t removed = 0;  ///< steps cut off at the end
  /// First step's start to last step's end: what utilization is measured over.
  timeline::Interval all() const {
    return steps.empty() ? timeline::Interval{}
                         : timeline::Interval{steps.front().span.begin, steps.back().span.end};
  }
};

/// The plugin's tables know no choice of steps: says so where one was asked for.
void note_step_choice(const report::Params& params, report::Report& report);

StepWindows step_windows(const Events& events, const Links& links);

}  // namespace stepscope::analyze::tb
