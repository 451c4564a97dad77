#include "compare/counted_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/median.h"
#include "compare/noise/steady.h"

namespace stepscope::compare {
namespace {

using analyze::StepSpan;

/// The steps of one rank that are whole.
struct OfRank {
  std::vector<StepSpan> spans;
  std::map<std::int64_t, std::size_t> by_number;  // the first of steps with equal numbers
};

OfRank whole_steps(const trace::Rank& rank, const analyze::StepChoice& choice, std::size_t& cut_off) {
  OfRank out;
  for (const StepSpan& span : analyze::step_spans(rank)) {
    if (!choice.includes(rank.steps[span.index])) continue;
    if (span.partial) {
      ++cut_off;
      continue;
    }
    out.by_number.emplace(rank.steps[span.index].number, out.spans.size());
    out.spans.push_back(span);
  }
  return out;
}

void leave_out_pauses(CountedSteps& counted, const std::vector<std::size_t>& slow) {
  const std::vector<double> times = counted.times();
  std::vector<double> sorted = times;
  const double median = median_of(sorted);
  for (const std::size_t at : slow) counted.pauses.push_back({counted.steps[at].number, times[at] / median});
  for (auto at = slow.rbegin(); at != slow.rend(); ++at)
    counted.steps.erase(counted.steps.begin() + static_cast<std::ptrdiff_t>(*at));
}

}  // namespace

CountedSteps counted_steps(const trace::Trace& trace, const analyze::StepChoice& choice) {
  CountedSteps out;
  std::vector<OfRank> ranks;
  for (const trace::Rank& rank : trace.ranks) {
    ranks.push_back(whole_steps(rank, choice, out.cut_off));
    out.marked |= !rank.steps.empty() && rank.steps.front().counts();
  }
  if (ranks.empty()) return out;
  for (const auto& [number, at] : ranks.front().by_number) {
    CountedStep step{number, {}};
    for (const OfRank& rank : ranks)
      if (const auto found = rank.by_number.find(number); found != rank.by_number.end())
        step.spans.push_back(rank.spans[found->second]);
    if (step.spans.size() == ranks.size()) out.steps.push_back(std::move(step));
  }
  if (out.steps.empty()) {
    std::size_t fewest = ranks.front().spans.size();
    for (const OfRank& rank : ranks) fewest = std::min(fewest, rank.spans.size());
    for (std::size_t at = 0; at < fewest; ++at) {
      CountedStep step{static_cast<std::int64_t>(at), {}};
      for (const OfRank& rank : ranks) step.spans.push_back(rank.spans[at]);
      out.steps.push_back(std::move(step));
    }
  }
  std::stable_sort(out.steps.begin(), out.steps.end(), [](const CountedStep& a, const CountedStep& b) {
    return a.spans.front().span.begin < b.spans.front().span.begin;
  });
  return out;
}

void leave_out_first(CountedSteps& counted, std::size_t skip) {
  skip = std::min(skip, counted.steps.size());
  counted.steps.erase(counted.steps.begin(), counted.steps.begin() + static_cast<std::ptrdiff_t>(skip));
  counted.warming_up += skip;
}

std::vector<double> CountedSteps::times() const {
  std::vector<double> out;
  for (const CountedStep& step : steps) {
    std::int64_t slowest = 0;
    for (const StepSpan& span : step.spans) slowest = std::max(slowest, span.span.length());
    out.push_back(static_cast<double>(slowest));
  }
  return out;
}

void leave_out_unsteady(const std::vector<CountedSteps*>& recordings, const report::Params& params) {
  if (params.has("skip")) {
    for (CountedSteps* counted : recordings)
      leave_out_first(*counted, static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("skip"))));
    return;
  }
  if (params.has("step") || recordings.empty()) return;
  std::vector<std::vector<double>> times;
  for (const CountedSteps* counted : recordings) times.push_back(counted->times());
  const Unsteady found = unsteady(times);
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    leave_out_first(*recordings[i], found.warm_up);
    leave_out_pauses(*recordings[i], found.pauses[i]);
  }
}

void note_warm_up(std::size_t steps, std::vector<std::string>& notes) {
  if (steps > 0)
    notes.push_back(fmt::format("The first {} left out of each recording as warm-up; --skip 0 counts all.",
                                steps == 1 ? "step is" : fmt::format("{} steps are", steps)));
}

void note_pauses(const std::string& name, const CountedSteps& counted, std::vector<std::string>& notes) {
  if (counted.pauses.empty()) return;
  std::vector<std::string> steps;
  for (const CountedSteps::Pause& pause : counted.pauses)
    steps.push_back(fmt::format("{} ({:.1f} × the median)", pause.number, pause.slowdown));
  notes.push_back(fmt::format("{}: {} {} {} left out as {}; --skip 0 counts all.", name,
                              steps.size() == 1 ? "step" : "steps", fmt::join(steps, ", "),
                              steps.size() == 1 ? "is" : "are",
                              steps.size() == 1 ? "a rare pause" : "rare pauses"));
}

}  // namespace stepscope::compare
