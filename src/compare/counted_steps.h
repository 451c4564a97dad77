// Which steps of a recording count when it is compared with another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/question.h"
#include "trace/trace.h"

namespace stepscope::compare {

struct CountedStep {
  std::int64_t number = 0;
  std::vector<analyze::StepSpan> spans;  ///< by rank
};

struct CountedSteps {
  std::vector<CountedStep> steps;  ///< in time order
  bool marked = false;             ///< false: the whole recording is one step
  std::size_t cut_off = 0;         ///< steps left out because the recording ends in them
  std::size_t warming_up = 0;      ///< first steps left out
};

/// The steps that all ranks have, matched by number, or by position if the ranks share no number. Cut-off
/// steps do not count.
CountedSteps counted_steps(const trace::Trace& trace, const analyze::StepChoice& choice);

/// Leaves out the first `skip` steps.
void leave_out_first(CountedSteps& counted, std::size_t skip);
/// Notes how many first steps are left out; no note for 0.
void note_warm_up(std::size_t steps, std::vector<std::string>& notes);

}  // namespace stepscope::compare
