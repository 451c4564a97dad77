#include "compare/counted_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

void note_warm_up(std::size_t steps, std::vector<std::string>& notes) {
  if (steps > 0)
    notes.push_back(fmt::format("The first {} left out of each recording as warm-up; --skip 0 counts all.",
                                steps == 1 ? "step is" : fmt::format("{} steps are", steps)));
}

}  // namespace stepscope::compare
