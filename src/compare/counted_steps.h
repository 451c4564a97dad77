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
  bool marked = false;             ///< false: the whole recording stands as one step
  std::size_t cut_off = 0;         ///< left out: the recording ends in them
  std::size_t warming_up = 0;      ///< left out: the first ones
};

/// The steps that all ranks have, by number; by position when they share no number. Steps that are cut off do
/// not count.
CountedSteps counted_steps(const trace::Trace& trace, const analyze::StepChoice& choice);

/// Leaves out the first `skip` steps.
void leave_out_first(CountedSteps& counted, std::size_t skip);
/// Says that so many steps are left out; nothing of none.
void note_warm_up(std::size_t steps, std::vector<std::string>& notes);

}  // namespace stepscope::compare
