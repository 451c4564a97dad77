#include "compare/diff.h"

#include <algorithm>

#include "compare/change.h"
#include "compare/comparable.h"
#include "compare/leaves.h"

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

StepDifference diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings) {
  recordings.a.leaves = leaves_of(a, recordings.a.counted);
  recordings.b.leaves = leaves_of(b, recordings.b.counted);
  StepDifference difference = step_difference(recordings.a, recordings.b);
  difference.doubts =
      not_comparable(subject_of(a, recordings.a.counted), subject_of(b, recordings.b.counted), "A", "B");
  if (!difference.doubts.empty())
    difference.notes.insert(difference.notes.begin(), difference.doubts.begin() + 1, difference.doubts.end());
  return difference;
}

}  // namespace stepscope::compare
