// The inputs of the stages, and the stages in a row.
#include "advise/pricing/pricing.h"

#include "advise/rules/constants.h"
#include "report/units.h"

namespace stepscope::advise {

std::int64_t Basis::least() const { return least_saving(step, kMinShare); }

namespace {

std::int64_t steps_of(const analyze::ReplayedRank& replayed, const Basis& basis) {
  return replayed.steps() - (basis.without_first ? 1 : 0);
}

}  // namespace

Basis basis_of(const Evidence& evidence, const analyze::ReplayedRank& replayed) {
  Basis basis;
  basis.step = evidence.step_length();
  basis.steps = evidence.steps();
  basis.most = most_saving(evidence);
  basis.uncertainty = step_uncertainty(evidence, replayed.has_device());
  basis.late = evidence.idle_total(&analyze::IdleTotals::late) / evidence.steps();
  basis.has_device = replayed.has_device();
  basis.without_first = slow_first_step(evidence, replayed).has_value();
  basis.pace = unrecorded_pace(evidence);
  if (basis.pace == 1) return basis;
  basis.recording = part(basis.step, 1 - basis.pace);
  if (!replayable(replayed)) return basis;
  basis.unrecorded = replayed.length({}, basis.without_first, basis.pace);
  basis.recording = std::max<std::int64_t>(0, replayed.identity(basis.without_first) - basis.unrecorded) /
                    steps_of(replayed, basis);
  return basis;
}

Replays replays_of(const analyze::ReplayedRank& replayed, const Basis& basis) {
  Replays replays;
  replays.usable = replayable(replayed);
  replays.error = replayed.error();
  if (!replays.usable && replayed.has_device())
    replays.unusable = replayed.usable() ? report::format_value(replayed.unlinked(), report::Unit::share) +
                                               " of the window's device events have no recorded launch"
                                         : report::format_value(replays.error, report::Unit::share) +
                                               " off even without changes";
  replays.change_of = [&replayed](std::span<const analyze::Scale> scales) {
    return replayed.change_of(scales);
  };
  replays.saved = [&replayed, basis](const Change& change) -> Saved {
    if (!change.found) return {};
    const std::int64_t recorded =
        std::max<std::int64_t>(0, saved_per_step(replayed, change, basis.without_first));
    if (basis.pace == 1) return {recorded, recorded};
    const std::int64_t length = replayed.length(change, basis.without_first, basis.pace);
    return {recorded, std::max<std::int64_t>(0, (basis.unrecorded - length) / steps_of(replayed, basis))};
  };
  replays.limit_behind = [&replayed, basis](const Change& change, std::int64_t saved) {
    const std::int64_t step = replayed.identity(basis.without_first) / steps_of(replayed, basis);
    return limit_behind(replayed, change, step - saved, basis.without_first);
  };
  return replays;
}

Prices price(std::vector<Claim> claims, const Basis& basis, const Replays& replays, unsigned threads) {
  Ranking ranking =
      price_after(price_alone(std::move(claims), basis, replays, threads), basis, replays, threads);
  const Range together = price_together(ranking, basis);
  return {std::move(ranking.findings), together};
}

}  // namespace stepscope::advise
