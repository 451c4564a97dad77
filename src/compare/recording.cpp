#include "compare/recording.h"

#include <algorithm>

namespace stepscope::compare {
namespace {

/// Parts from the answer of `steps`, which has an element per rank and step, in that order.
std::vector<PartOfStep> parts_of(const trace::Trace& trace, const std::vector<CountedStep>& counted) {
  const std::vector<analyze::StepTime> times = analyze::steps_of(analyze::Derived(trace, {})).steps;
  std::vector<std::size_t> first(1, 0);
  for (const trace::Rank& rank : trace.ranks) first.push_back(first.back() + rank.steps.size());
  std::vector<PartOfStep> parts;
  for (const analyze::StepRole role : analyze::kStepColumns) {
    PartOfStep& part = parts.emplace_back(PartOfStep{role, {}});
    for (const CountedStep& step : counted) {
      double sum = 0;
      for (std::size_t rank = 0; rank < step.spans.size(); ++rank)
        sum += static_cast<double>(times[first[rank] + step.spans[rank].index].part(role));
      part.time.push_back(sum / static_cast<double>(trace.ranks.size()));
    }
  }
  return parts;
}

}  // namespace

Recording recording_of(const trace::Trace& trace, CountedSteps counted) {
  Recording out{std::move(counted), {}, {}, {}};
  if (out.counted.steps.empty()) return out;
  out.parts = parts_of(trace, out.counted.steps);
  out.step = out.counted.times();
  return out;
}

}  // namespace stepscope::compare
