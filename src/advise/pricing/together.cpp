// The third stage: what all findings that limit now save together.
#include "advise/pricing/pricing.h"
#include "report/statistics.h"

namespace stepscope::advise {

Range price_together(const Ranking& ranking, const Basis& basis) {
  std::int64_t low = 0, high = 0, estimated = 0, left_over = 0, surest = 0;
  int count = 0;
  bool kernels = false;
  for (const Ranked& f : ranking.findings) {
    if (when_of(f) != report::When::now) continue;
    ++count;
    low += f.saving.low;
    high += f.saving.high;
    surest = std::max(surest, f.saving.low);
    kernels |= f.claim.shortens_kernels;
    if (!f.by_replay) (f.claim.leftover > 0 ? left_over : estimated) += f.saving.high;
  }
  if (count < 2) return {};
  const std::int64_t limiting = ranking.limiting.most();
  const double left =
      basis.late > 0 && limiting > 0 ? std::max(0.0, 1 - report::ratio(limiting, basis.late)) : 1;
  std::int64_t all = std::min(high, limiting + left_over + part(estimated, left));
  if (!kernels) all = std::min(all, basis.most);
  return {std::min(all, std::max(surest, part(all, report::ratio(low, high)))), all};
}

}  // namespace stepscope::advise
