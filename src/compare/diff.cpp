#include "compare/diff.h"

#include <algorithm>

#include "compare/change.h"
#include "compare/comparable.h"
#include "compare/leaves.h"
#include "compare/step_difference.h"

namespace stepscope::compare {
std::size_t warm_up(std::size_t fewest, const report::Params& params) {
  if (params.has("skip")) return static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("skip")));
  return params.has("step") || fewest <= kMinSteps ? 0 : 1;
}

Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params) {
  const analyze::StepChoice choice(params);
  CountedSteps of_a = counted_steps(a, choice), of_b = counted_steps(b, choice);
  const std::size_t skip = warm_up(std::min(of_a.steps.size(), of_b.steps.size()), params);
  leave_out_first(of_a, skip);
  leave_out_first(of_b, skip);
  return {recording_of(a, std::move(of_a)), recording_of(b, std::move(of_b))};
}

report::Report diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings) {
  recordings.a.leaves = leaves_of(a, recordings.a.counted);
  recordings.b.leaves = leaves_of(b, recordings.b.counted);
  report::Report report = as_report(step_difference(recordings.a, recordings.b), recordings.a, recordings.b);
  const std::vector<std::string> doubts = not_comparable(a, b, recordings);
  report.notes.insert(report.notes.begin(), doubts.begin(), doubts.end());
  return report;
}

}  // namespace stepscope::compare
