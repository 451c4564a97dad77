// What a step of one recording takes beyond a step of another, and what explains it.
#pragma once

#include <string>
#include <vector>

#include "compare/change.h"
#include "compare/match.h"
#include "compare/recording.h"
#include "report/table.h"

namespace stepscope::compare {

/// One thing that is on one side or on both.
struct Row {
  Match match;
  std::string module, op, kernel;
  RowJudge::Verdict time;  ///< ns per step
  double calls_a = 0, calls_b = 0;
  double change() const { return time.b - time.a; }
};

struct StepDifference {
  RatioChange step;
  double mean_a = 0, mean_b = 0;  ///< ns per step, of the slowest rank
  std::vector<Row> rows;          ///< their changes add up to mean_b − mean_a; the largest first
};

StepDifference step_difference(const Recording& a, const Recording& b);

/// "B is 12.3 % faster per step: …", with the names of the two sides.
std::string headline(const StepDifference& difference, const std::string& a, const std::string& b);

/// Titles of tables.
inline constexpr const char* kParts = "Step, part by part (means)";
inline constexpr const char* kChanges = "What changed, per step";

/// "Verdict", kParts, kChanges, the changes summed by module and by operator, and how they add up; with notes
/// on what cannot be known.
report::Report as_report(const StepDifference& difference, const Recording& a, const Recording& b);

}  // namespace stepscope::compare
