#include "analyze/steps/long_steps.h"

#include <algorithm>

#include "report/statistics.h"

namespace stepscope::analyze {

using report::kNoInt;

std::int64_t longest_usual(std::span<const std::int64_t> lengths) {
  if (std::ssize(lengths) < kStepsToCompare) return kNoInt;
  std::vector<std::int64_t> values(lengths.begin(), lengths.end());
  const std::int64_t median = report::quantile(values, 0.5);
  for (std::int64_t& value : values) value = std::abs(value - median);
  const auto spread = static_cast<double>(report::quantile(values, 0.5));
  return median +
         static_cast<std::int64_t>(std::max(kLongSpreads * spread, kLongShare * static_cast<double>(median)));
}

TypicalSteps typical_steps(const trace::Rank& rank, const StepChoice& choice) {
  TypicalSteps typical;
  typical.counted.resize(rank.steps.size());
  const std::vector<StepSpan> spans = step_spans(rank);
  std::vector<std::int64_t> lengths;
  for (const StepSpan& s : spans) {
    typical.counted[s.index] = choice.includes(rank.steps[s.index]) && !(s.partial && choice.all());
    if (typical.counted[s.index] && s.device_length != kNoInt) lengths.push_back(s.device_length);
  }
  typical.median = report::quantile(lengths, 0.5);
  const std::int64_t usual = longest_usual(lengths);
  Column<timeline::Interval> long_spans;
  for (const StepSpan& s : spans)
    if (usual != kNoInt && typical.counted[s.index] && s.device_length != kNoInt && s.device_length > usual) {
      typical.left_out.push_back(s.index);
      long_spans.push_back(s.span);
    }
  if (typical.left_out.size() * 5 > lengths.size()) {
    typical.left_out.clear();
    long_spans.clear();
  }
  for (const std::size_t step : typical.left_out) typical.counted[step] = false;
  Column<timeline::Interval> window;
  window.push_back(window_of(rank, choice));
  typical.spans = subtract(timeline::IntervalSet::of(std::move(window)),
                           timeline::IntervalSet::of(std::move(long_spans)));
  return typical;
}

}  // namespace stepscope::analyze
