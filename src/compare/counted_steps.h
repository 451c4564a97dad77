// Which steps of a recording count when it is compared with another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/question.h"
#include "report/params.h"
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
  struct Pause {
    std::int64_t number;
    double slowdown;  ///< ÷ the median step
  };
  std::vector<Pause> pauses = {};  ///< single slow steps left out
  /// ns by step, of the slowest rank: what the job sees.
  std::vector<double> times() const;
};

/// The steps that all ranks have, matched by number, or by position if the ranks share no number. Cut-off
/// steps do not count.
CountedSteps counted_steps(const trace::Trace& trace, const analyze::StepChoice& choice);

/// Leaves out the first `skip` steps.
void leave_out_first(CountedSteps& counted, std::size_t skip);
/// Leaves out warm-up and rare pauses, alike in all recordings of a comparison. `params`: with skip, the
/// first so many steps instead; with step, none.
void leave_out_unsteady(const std::vector<CountedSteps*>& recordings, const report::Params& params);
/// Notes how many first steps are left out; no note for 0.
void note_warm_up(std::size_t steps, std::vector<std::string>& notes);
/// Notes which pauses are left out of the recording called `name`.
void note_pauses(const std::string& name, const CountedSteps& counted, std::vector<std::string>& notes);

}  // namespace stepscope::compare
