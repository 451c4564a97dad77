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

std::vector<double> grouped(const std::vector<double>& values, std::size_t most) {
  const std::size_t n = values.size(), groups = std::min(n, most);
  std::vector<double> out(groups);
  std::vector<double> size(groups);
  for (std::size_t i = 0; i < n; ++i) {
    out[i * groups / n] += values[i];
    ++size[i * groups / n];
  }
  for (std::size_t g = 0; g < groups; ++g) out[g] /= size[g];
  return out;
}

Recording recording_of(const trace::Trace& trace, CountedSteps counted) {
  Recording out{std::move(counted), {}, {}, {}};
  if (out.counted.steps.empty()) return out;
  out.parts = parts_of(trace, out.counted.steps);
  for (const CountedStep& step : out.counted.steps) {
    std::int64_t slowest = 0;
    for (const analyze::StepSpan& span : step.spans) slowest = std::max(slowest, span.span.length());
    out.step.push_back(static_cast<double>(slowest));
  }
  return out;
}

}  // namespace stepscope::compare
