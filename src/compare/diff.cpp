#include "compare/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/ranks/stragglers.h"
#include "compare/change.h"
#include "compare/comparable.h"
#include "compare/leaves.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

/// Ranks that are slow in every step.
std::vector<analyze::SlowRank> slow_ranks(const trace::Trace& trace) {
  if (trace.ranks.size() < derive::kMinRanks) return {};
  const report::Params params;
  std::vector<analyze::SlowRank> slow = analyze::stragglers_of(analyze::Derived(trace, params)).slow;
  std::erase_if(slow, [](const analyze::SlowRank& of) { return !of.always(); });
  return slow;
}

/// Names the ranks that are slow in the side `name` only: what others wait for them counts as their
/// collectives.
void note_slow_ranks(const std::vector<analyze::SlowRank>& here, const std::vector<analyze::SlowRank>& there,
                     std::string_view name, std::vector<std::string>& notes) {
  for (const analyze::SlowRank& slow : here)
    if (std::ranges::find(there, slow.rank, &analyze::SlowRank::rank) == there.end())
      notes.push_back(fmt::format(
          "Only in {} rank {} is slow: it takes {} longer than the others in every step, mostly in "
          "{}. The others wait for it in their collectives, which are longer by that.",
          name, slow.rank, report::format_value(slow.excess, report::Unit::ns), derive::name_of(slow.part)));
}

}  // namespace

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
  const std::vector<analyze::SlowRank> slow_a = slow_ranks(a), slow_b = slow_ranks(b);
  note_slow_ranks(slow_a, slow_b, "A", difference.notes);
  note_slow_ranks(slow_b, slow_a, "B", difference.notes);
  if (!difference.doubts.empty())
    difference.notes.insert(difference.notes.begin(), difference.doubts.begin() + 1, difference.doubts.end());
  return difference;
}

}  // namespace stepscope::compare
