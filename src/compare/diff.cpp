#include "compare/diff.h"

#include <algorithm>

#include "compare/change.h"
#include "compare/comparable.h"
#include "compare/leaves.h"

namespace stepscope::compare {
Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params) {
  const analyze::StepChoice choice(params);
  CountedSteps of_a = counted_steps(a, choice), of_b = counted_steps(b, choice);
  leave_out_unsteady({&of_a, &of_b}, params);
  return {recording_of(a, std::move(of_a)), recording_of(b, std::move(of_b))};
}

StepDifference diff(const trace::Trace& a, const trace::Trace& b, Pair& recordings) {
  recordings.a.leaves = leaves_of(a, recordings.a.counted);
  recordings.b.leaves = leaves_of(b, recordings.b.counted);
  StepDifference difference = step_difference(recordings.a, recordings.b);
  const Subject of_a = subject_of(a, recordings.a.counted), of_b = subject_of(b, recordings.b.counted);
  difference.same = same_recording(of_a, of_b);
  difference.doubts = not_comparable(of_a, of_b, "A", "B");
  if (!difference.doubts.empty())
    difference.notes.insert(difference.notes.begin(), difference.doubts.begin() + 1, difference.doubts.end());
  return difference;
}

}  // namespace stepscope::compare
