#include "compare/diff.h"

#include <algorithm>

#include "compare/change.h"
#include "compare/step_difference.h"

namespace stepscope::compare {
namespace {

/// The first step of a recording warms up; it is left out when the others are enough.
std::size_t warm_up(const CountedSteps& a, const CountedSteps& b, const report::Params& params) {
  if (params.has("skip")) return static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("skip")));
  return params.has("step") || std::min(a.steps.size(), b.steps.size()) <= kFewestSteps ? 0 : 1;
}

}  // namespace

Pair recordings_of(const trace::Trace& a, const trace::Trace& b, const report::Params& params) {
  const analyze::StepChoice choice(params);
  CountedSteps of_a = counted_steps(a, choice), of_b = counted_steps(b, choice);
  const std::size_t skip = warm_up(of_a, of_b, params);
  leave_out_first(of_a, skip);
  leave_out_first(of_b, skip);
  return {recording_of(a, std::move(of_a)), recording_of(b, std::move(of_b))};
}

report::Report diff(const trace::Trace& a, const trace::Trace& b, const report::Params& params) {
  const Pair pair = recordings_of(a, b, params);
  return as_report(step_difference(pair.a, pair.b), pair.a, pair.b);
}

}  // namespace stepscope::compare
