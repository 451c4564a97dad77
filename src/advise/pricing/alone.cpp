// The first stage: what each change saves alone.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "advise/pricing/pricing.h"
#include "advise/rules/constants.h"
#include "base/parallel.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using report::format_value;
using report::Unit;

std::string ns(std::int64_t time) { return format_value(time, Unit::ns); }

Range part(const Range& range, double share) {
  return {advise::part(range.low, share), advise::part(range.high, share)};
}

Range at_most(const Range& range, std::int64_t high) {
  return {std::min(range.low, std::min(range.high, high)), std::min(range.high, high)};
}

/// Caps an estimate by what removing `claim.removed` saves.
Range within_removed(const Claim& claim, const Range& estimate, const Replays& replays) {
  if (!replays.usable || claim.removed.empty() || !estimate.known()) return estimate;
  const Change without = replays.change_of(claim.removed);
  return without.found ? at_most(estimate, replays.saved(without).most()) : estimate;
}

/// If a change saves much less than the device work that it removes: notes what limits the step then.
void say_limit(Priced& p, const Tried& tried, const Replays& replays) {
  const Category category = category_of(p.claim.id);
  const bool of_device = category == Category::communication || category == Category::kernel ||
                         category == Category::precision || category == Category::copy;
  const std::int64_t saved = tried.saved.recorded;
  if (!of_device || saved <= 0 || p.saving.high / 2 < saved) return;
  const std::string limit = replays.limit_behind(tried.ideal, saved);
  if (!limit.empty()) p.aside = "Then " + limit;
  p.reasons.push_back(fmt::format("it removes {} of device work, but then {}", ns(p.saving.high),
                                  limit.empty() ? "something else limits" : limit));
}

/// If the saving depends on the host's pace, which recording itself slowed: notes both savings.
void say_recording(Priced& p, const Saved& saved, double pace) {
  if (saved.most() - saved.least() <= advise::part(saved.most(), kVisibleCost)) return;
  p.reasons.push_back(fmt::format(
      "recording takes {} of the host's time: the change saves {} as recorded, {} without that cost",
      format_value(1 - pace, Unit::share), ns(saved.recorded), ns(saved.unrecorded)));
  p.unrecorded = saved.unrecorded > saved.recorded;
}

void take_replay(Priced& p, const Tried& tried, const Basis& basis, const Replays& replays) {
  say_limit(p, tried, replays);
  say_recording(p, tried.saved, basis.pace);
  p.saving.high = tried.saved.most();
  p.saving.low = p.claim.mild.empty() ? advise::part(tried.saved.least(), p.claim.pessimism)
                                      : std::min(p.saving.high, tried.mildly_saved.least());
  if (replays.error <= kExactError) return;
  p.confidence = lowered(p.confidence);
  p.reasons.push_back(fmt::format("replayed without changes, the step is {} off the recorded one",
                                  format_value(replays.error, Unit::share)));
}

/// Reduces the saving by late idle time that recording caused: launching faster does not end it.
void leave_recording(Priced& p, const Basis& basis) {
  if (basis.pace == 1 || p.claim.leftover <= 0) return;
  p.saving = part(p.saving, 1 - std::min(1.0, report::ratio(basis.recording, p.claim.leftover)));
  p.reasons.push_back(fmt::format("{} of the {} per step are the cost of recording and are excluded",
                                  ns(std::min(basis.recording, p.claim.leftover)), ns(p.claim.leftover)));
}

/// Relative standard error of a count of k in n steps: √((1-k/n)/k); 0 if the cause was seen in all steps.
double counting_error(const Claim& claim, std::int64_t steps) {
  if (claim.seen <= 0 || claim.seen >= steps) return 0;
  const auto seen = static_cast<double>(claim.seen);
  return std::sqrt((1 - seen / static_cast<double>(steps)) / seen);
}

/// A saving is the difference of two steps, so it is no more precise than steps repeat.
void widen(Priced& p, const Basis& basis) {
  if (!p.saving.known()) return;
  const double error = counting_error(p.claim, basis.steps);
  p.saving.low -= std::min(p.saving.low, advise::part(p.saving.low, error));
  p.saving.high += advise::part(p.saving.high, error);
  const auto most = static_cast<std::int64_t>(kMaxWidening * static_cast<double>(p.saving.high));
  p.margin = std::min(most, basis.uncertainty);
  p.saving.high += p.margin;
  if (!p.claim.shortens_kernels) p.saving.high = std::min(p.saving.high, basis.most);
  p.saving.low -= std::min(p.margin, p.saving.low);
}

bool claims_launching(const Claim& claim) {
  const Category category = category_of(claim.id);
  return category == Category::host || category == Category::communication || category == Category::graph;
}

/// Late idle time that more specific causes claim.
std::int64_t claimed_launching(const std::vector<Candidate>& candidates, const Replays& replays) {
  Change others;
  std::int64_t estimated = 0, alone = 0;
  int replayed = 0;
  for (const auto& [p, changes] : candidates) {
    if (p.next || p.claim.leftover > 0 || !p.saving.known() || !claims_launching(p.claim)) continue;
    if (p.claim.claimed > 0 || !p.by_replay) {
      estimated += p.claim.claimed > 0 ? p.claim.claimed : p.saving.high;
      continue;
    }
    others.add(changes.ideal);
    alone = changes.saved.recorded;
    ++replayed;
  }
  return (replayed == 1 ? alone : replays.saved(others).recorded) + estimated;
}

/// Share of a claim's idle time that other claims leave.
double share_left(const Priced& p) { return 1 - std::min(1.0, report::ratio(p.others, p.claim.leftover)); }

/// A claim that saves next to nothing now may save after the others, e.g. host work hidden by a device that
/// limits.
void wait_for_others(Priced& p, const Basis& basis) {
  if (p.next || !p.by_replay || p.saving.high >= basis.least()) return;
  p.next = true;
  p.reasons.emplace_back("it limits only once the findings above are done");
}

bool first_of_two(const Candidate& a, const Candidate& b) {
  const auto place = [](const Priced& p) { return p.next ? 1 : p.saving.known() ? 0 : 2; };
  return stands_before(a.priced, place(a.priced), b.priced, place(b.priced));
}

}  // namespace

std::vector<Tried> tried(const std::vector<Claim>& claims, const Replays& replays, unsigned threads) {
  std::vector<Tried> out(claims.size());
  if (!replays.usable) return out;
  parallel_for(2 * claims.size(), thread_count(threads), [&](std::size_t i) {
    const Claim& claim = claims[i / 2];
    Tried& t = out[i / 2];
    if (claim.ideal.empty()) return;
    if (i % 2 == 0)
      t.saved = replays.saved(t.ideal = replays.change_of(claim.ideal));
    else if (!claim.mild.empty())
      t.mildly_saved = replays.saved(t.mild = replays.change_of(claim.mild));
  });
  return out;
}

Priced priced_alone(const Claim& claim, const Tried& tried, const Basis& basis, const Replays& replays) {
  Priced p;
  p.claim = claim;
  p.next = claim.next;
  p.saving = {claim.saving_low, claim.saving_high};
  p.confidence = claim.confidence;
  p.reasons = claim.doubts;
  const bool replayed = replays.usable && !claim.ideal.empty();
  p.by_replay = replayed && tried.ideal.found;
  if (!replayed) p.saving = within_removed(claim, p.saving, replays);
  if (replayed && !p.by_replay) p.claim.ideal.clear();
  if (p.by_replay) take_replay(p, tried, basis, replays);
  if (p.saving.known() && !claim.shortens_kernels) p.saving = at_most(p.saving, basis.most);
  leave_recording(p, basis);
  widen(p, basis);
  if (!p.by_replay && !p.claim.ideal.empty() && p.saving.known() && basis.has_device) {
    p.confidence = lowered(p.confidence);
    p.reasons.push_back("the saving is a share of the time, as the recording cannot be replayed: " +
                        replays.unusable);
  }
  return p;
}

std::vector<Candidate> left_to_others(std::vector<Candidate> candidates, const Basis& basis,
                                      const Replays& replays) {
  if (std::none_of(candidates.begin(), candidates.end(),
                   [](const Candidate& c) { return c.priced.claim.leftover > 0; }))
    return candidates;
  const std::int64_t taken = claimed_launching(candidates, replays);
  for (Candidate& candidate : candidates) {
    Priced& p = candidate.priced;
    if (p.claim.leftover <= 0) continue;
    p.others = std::min(taken, p.claim.leftover);
    p.unshared = std::exchange(p.saving, part(p.saving, share_left(p)));
  }
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const Priced& p = candidate.priced;
    return p.claim.leftover > 0 && part(p.claim.leftover, share_left(p)) < part(basis.step, kLateIdleShare);
  });
  return candidates;
}

std::vector<Candidate> price_alone(std::vector<Claim> claims, const Basis& basis, const Replays& replays,
                                   unsigned threads) {
  std::vector<Tried> changes = tried(claims, replays, threads);
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Priced priced = priced_alone(claims[i], changes[i], basis, replays);
    candidates.push_back({std::move(priced), std::move(changes[i])});
  }
  candidates = left_to_others(std::move(candidates), basis, replays);
  for (Candidate& candidate : candidates) wait_for_others(candidate.priced, basis);
  std::sort(candidates.begin(), candidates.end(), first_of_two);
  return candidates;
}

}  // namespace stepscope::advise
