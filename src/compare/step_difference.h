// How much longer a step of one recording is than a step of another, and what explains it.
#pragma once

#include <string>
#include <vector>

#include "compare/change.h"
#include "compare/match.h"
#include "compare/recording.h"
#include "report/table.h"

namespace stepscope::compare {

/// The step, or a part of it.
struct Part {
  std::string_view name;
  RowChange time;  ///< ns per step, the mean over ranks
};

/// Leaves that are compared with each other, or that only one side has.
struct Row {
  Match match;
  std::string module, op, kernel;
  RowChange time;  ///< ns per step
  double calls_a = 0, calls_b = 0;
  double change() const { return time.change(); }
};

struct StepDifference {
  RatioChange step;                 ///< ns per step, of the slowest rank
  std::vector<Part> parts;          ///< the step first, then parts that take time on a side
  std::vector<Row> rows;            ///< their changes add up to that of the step; the largest first
  std::vector<std::string> notes;   ///< what cannot be known, and what was left out
  std::vector<std::string> doubts;  ///< why the two do not compare; the headline has the first
  bool same = false;                ///< both sides are one recording
  /// Both sides have a whole step.
  bool known() const { return step.steps_a > 0 && step.steps_b > 0; }
};

StepDifference step_difference(const Recording& a, const Recording& b);

/// "B is 12.3 % faster per step: …".
std::string headline(const StepDifference& difference);

/// The headline with its numbers, the parts, the rows, the rows' changes summed by module and by operator,
/// and how they add up. The headline alone when a side has no whole step.
report::Report as_report(const StepDifference& difference);

}  // namespace stepscope::compare
