// Steps of a program that marks none.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

/// Steps where a program repeats itself, and the name of the range that each is counted by; no steps if it
/// does not. `border`: of training, "Optimizer.step#…": a step lasts from the end of one to the end of the
/// next. Else the operator of the main thread that repeats most regularly with the longest interval: a step
/// lasts from its begin to its next begin. A program that trains for less than half of the recording, and
/// repeats something else for longer before or after, has the steps of the latter. With a device, only steps
/// of training are found, unless the whole program was recorded: files of one step are usual there, and its
/// layers repeat, too. O(n log n) in host rows.
struct FoundSteps {
  std::vector<trace::Step> steps;
  std::string border;
};
FoundSteps found_steps(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
