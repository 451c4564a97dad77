#include "analyze/question.h"

#include <algorithm>
#include <tuple>

namespace stepscope::analyze {

using timeline::Interval;

StepChoice::StepChoice(const report::Params& params) {
  std::tie(first_, last_) = params.range("step", {first_, last_});
}

double microseconds(std::int64_t ns) {
  return static_cast<double>(ns / 1000) + static_cast<double>(ns % 1000) / 1000.0;
}

std::int64_t origin_of(const trace::Rank& rank) {
  return rank.first_start == trace::kNoTime ? 0 : rank.first_start;
}

Interval window_of(const trace::Rank& rank, const StepChoice& steps) {
  Interval window{0, 0};
  bool any = false;
  for (const StepSpan& s : step_spans(rank)) {
    if (!steps.includes(rank.steps[s.index]) || (s.partial && steps.all())) continue;
    window.begin = any ? std::min(window.begin, s.span.begin) : s.span.begin;
    window.end = any ? std::max(window.end, s.span.end) : s.span.end;
    any = true;
  }
  return window;
}

std::vector<StepSpan> step_spans(const trace::Rank& rank) {
  const trace::EventTable& e = rank.events;
  std::vector<StepSpan> spans;
  std::vector<std::int64_t> launched(rank.steps.size());
  std::int64_t first_device_start = std::numeric_limits<std::int64_t>::max();
  for (const trace::Row row : rank.device_rows()) {
    if (!is_device_work(e.kind[row]) || e.step[row] < 0 || e.launch[row] == trace::kNoRow) continue;
    ++launched[static_cast<std::size_t>(e.step[row])];
    if (e.step[row] == 0) first_device_start = std::min(first_device_start, e.start[row]);
  }
  std::int64_t previous_end = rank.steps.empty() ? 0 : rank.steps.front().start;
  if (first_device_start != std::numeric_limits<std::int64_t>::max()) {
    // Device work of steps before the first recorded one does not count as the first one's time.
    for (const trace::Row row : rank.device_rows())
      if (is_device_work(e.kind[row]) && (e.step[row] < 0 || e.launch[row] == trace::kNoRow) &&
          e.end[row] <= first_device_start)
        previous_end = std::max(previous_end, e.end[row]);
  }
  std::int64_t device_end = trace::kNoTime;
  for (std::size_t i = 0; i < rank.steps.size(); ++i) {
    const trace::Step& step = rank.steps[i];
    const std::int64_t begin = std::max(previous_end, step.start);
    const std::int64_t end = std::max({begin, step.end, step.device_end});
    spans.push_back({i, {begin, end}, launched[i], false, report::kNoInt});
    if (launched[i] > 0) {
      spans.back().device_length = step.device_end - (device_end == trace::kNoTime ? begin : device_end);
      device_end = std::max(device_end, step.device_end);
    }
    previous_end = end;
  }
  const std::size_t n = spans.size();
  if (n > 1 && spans[n - 1].device_events * 10 < spans[n - 2].device_events * 8) spans[n - 1].partial = true;
  return spans;
}

}  // namespace stepscope::analyze
