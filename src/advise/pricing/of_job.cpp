// What the job gains by findings of single ranks.
#include <fmt/format.h>

#include <map>
#include <set>

#include "advise/pricing/pricing.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using analyze::SlowRank;
using analyze::Stragglers;

const SlowRank* always_slow(const Stragglers& stragglers, std::int64_t rank) {
  for (const SlowRank& slow : stragglers.slow)
    if (slow.always() && slow.rank == rank) return &slow;
  return nullptr;
}

/// What mending these ranks saves; unknown unless all are slow in every step.
Range gain_of(const Stragglers& stragglers, const std::set<std::int64_t>& ranks) {
  for (const std::int64_t rank : ranks)
    if (always_slow(stragglers, rank) == nullptr) return {};
  const auto range = [](const auto& of) {
    return of.cost_high == report::kNoInt ? Range{of.cost, of.cost} : Range{of.cost_low, of.cost_high};
  };
  if (ranks.size() == 1) return range(*always_slow(stragglers, *ranks.begin()));
  return stragglers.together ? range(*stragglers.together) : Range{};
}

}  // namespace

void cap_by_job(std::vector<Ranked>& findings, const Stragglers& stragglers) {
  std::map<RuleId, std::set<std::int64_t>> ranks;
  for (const Ranked& f : findings) ranks[f.claim.id].insert(f.claim.rank);
  for (Ranked& f : findings) {
    const Range gain = gain_of(stragglers, ranks[f.claim.id]);
    if (!f.saving.known() || !gain.known() || report::category_of(f.claim.id) == Category::communication ||
        gain.high >= f.saving.high)
      continue;
    f.reasons.push_back(fmt::format("the rank itself would save {}, but other ranks come as late",
                                    report::format_value(f.saving.high, report::Unit::ns)));
    f.saving = {std::min(f.saving.low, gain.low), gain.high};
    if (f.after.known())
      f.after = {std::min(f.after.low, f.saving.low), std::min(f.after.high, f.saving.high)};
  }
}

}  // namespace stepscope::advise
