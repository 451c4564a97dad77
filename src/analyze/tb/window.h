// The plugin's steps: host marks adjusted to device work, without the incomplete steps at the end.
#pragma once

#include <string>
#include <vector>

#include "analyze/tb/events.h"
#include "analyze/tb/links.h"
#include "report/params.h"
#include "report/table.h"

namespace stepscope::analyze::tb {

struct StepWindow {
  std::string name;         ///< the text after "ProfilerStep#"; "0" for a trace without marks
  timeline::Interval span;  ///< ns since the first kept event
};

struct StepWindows {
  std::vector<StepWindow> steps;
  std::int64_t removed = 0;  ///< steps removed at the end
  /// From the first step's start to the last step's end: the window in which utilization is measured.
  timeline::Interval all() const {
    return steps.empty() ? timeline::Interval{}
                         : timeline::Interval{steps.front().span.begin, steps.back().span.end};
  }
};

/// Adds a note if steps are chosen: the plugin's tables always cover the whole recording.
void note_step_choice(const report::Params& params, report::Report& report);

StepWindows step_windows(const Events& events, const Links& links);

}  // namespace stepscope::analyze::tb
