// The range of each finding's saving, alone and after those above it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "advise/rules/constants.h"
#include "advise/savings.h"
#include "base/parallel.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using analyze::Change;
using analyze::ReplayedRank;
using report::kNoInt;

void lower_confidence(Finding& f) {
  if (f.confidence != Confidence::low)
    f.confidence = static_cast<Confidence>(static_cast<int>(f.confidence) - 1);
}

class Pricing {
 public:
  Pricing(std::vector<Finding>& findings, const Evidence& evidence, const ReplayedRank& replayed,
          unsigned threads)
      : findings_(findings),
        evidence_(evidence),
        replayed_(replayed),
        threads_(thread_count(threads)),
        step_(evidence.step_length()) {
    usable_ = replayable(replayed);
    uncertainty_ = step_uncertainty(evidence, replayed.has_device());
    without_first_ = slow_first_step(evidence, replayed).has_value();
    pace_ = unrecorded_pace(evidence);
    if (usable_ && pace_ < 1) unrecorded_ = replayed.length({}, without_first_, pace_);
  }

  Together run() {
    alone();
    after();
    for (Finding& f : findings_)
      if (!f.next || !by_replay(f)) f.small = !worth_showing(f);
    for (Finding& f : findings_)
      if (f.saving_high != kNoInt && f.saving_low < part(step_, kMinShare)) f.saving_low = 0;
    for (Finding& f : findings_) say_aside(f);
    return together();
  }

 private:
  /// As recorded, and with a host without what recording cost it; ns per step.
  struct Saved {
    std::int64_t recorded = 0, unrecorded = 0;
    std::int64_t least() const { return std::min(recorded, unrecorded); }
    std::int64_t most() const { return std::max(recorded, unrecorded); }
    Saved above(const Saved& before) const {
      return {std::max<std::int64_t>(0, recorded - before.recorded),
              std::max<std::int64_t>(0, unrecorded - before.unrecorded)};
    }
  };
  struct Priced {
    Change ideal, mild;
    Saved saved, mildly_saved;  ///< by the change alone
  };

  Saved saved(const Change& change) const {
    if (!change.found) return {};
    Saved out;
    out.recorded = std::max<std::int64_t>(0, saved_per_step(replayed_, change, without_first_));
    out.unrecorded = pace_ < 1
                         ? std::max<std::int64_t>(
                               0, (unrecorded_ - replayed_.length(change, without_first_, pace_)) / steps())
                         : out.recorded;
    return out;
  }
  std::int64_t steps() const { return replayed_.steps() - (without_first_ ? 1 : 0); }
  /// What recording added to a step, ns.
  std::int64_t recording() const {
    if (pace_ == 1) return 0;
    return usable_ ? std::max<std::int64_t>(0, replayed_.identity(without_first_) - unrecorded_) / steps()
                   : part(step_, 1 - pace_);
  }
  /// What was seen in k of n steps comes as often elsewhere but for the error of such a count, √((1-k/n)/k)
  /// of k.
  double counting_error(const Finding& f) const {
    if (f.seen <= 0 || f.seen >= evidence_.steps()) return 0;
    const auto seen = static_cast<double>(f.seen);
    return std::sqrt((1 - seen / static_cast<double>(evidence_.steps())) / seen);
  }
  /// A saving is the difference of two steps, and known no better than steps repeat.
  void widen(Finding& f) const {
    if (f.saving_high == kNoInt) return;
    f.saving_low -= std::min(f.saving_low, part(f.saving_low, counting_error(f)));
    f.saving_high += part(f.saving_high, counting_error(f));
    const auto most = static_cast<std::int64_t>(kMaxWidening * static_cast<double>(f.saving_high));
    f.saving_high += std::min(most, uncertainty_);
    f.margin = std::min(most, uncertainty_);
    if (!f.shortens_kernels) f.saving_high = std::min(f.saving_high, this->most());
    f.saving_low -= std::min(f.margin, f.saving_low);
  }
  bool by_replay(const Finding& f) const { return usable_ && !f.ideal.empty(); }
  std::int64_t most() const { return most_saving(evidence_); }

  void alone() {
    std::vector<Priced> priced(findings_.size());
    parallel_for(2 * findings_.size(), threads_, [&](std::size_t i) {
      const Finding& f = findings_[i / 2];
      Priced& p = priced[i / 2];
      if (!by_replay(f)) return;
      if (i % 2 == 0)
        p.saved = saved(p.ideal = replayed_.change_of(f.ideal));
      else if (!f.mild.empty())
        p.mildly_saved = saved(p.mild = replayed_.change_of(f.mild));
    });
    for (Finding& f : findings_) keep_to_removed(f);
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      Finding& f = findings_[i];
      if (by_replay(f)) take(f, priced[i]);
      if (f.saving_high == kNoInt || f.shortens_kernels) continue;
      f.saving_high = std::min(f.saving_high, most());
      f.saving_low = std::min(f.saving_low, f.saving_high);
    }
    for (Finding& f : findings_) leave_recording(f);
    for (Finding& f : findings_) widen(f);
    for (Finding& f : findings_)
      if (!by_replay(f) && !f.ideal.empty() && f.saving_high != kNoInt && replayed_.has_device()) doubt(f);
    leave_to_others(priced);
    for (Finding& f : findings_) wait_for_others(f);
    sort(priced);
  }
  /// Late idle time that recording made is none that launching faster ends.
  void leave_recording(Finding& f) const {
    if (pace_ == 1 || f.leftover <= 0) return;
    const double left = 1 - std::min(1.0, report::ratio(recording(), f.leftover));
    f.saving_low = part(f.saving_low, left);
    f.saving_high = part(f.saving_high, left);
    f.because += fmt::format("; {} of the {} per step are what recording costs, and left out",
                             report::format_value(std::min(recording(), f.leftover), report::Unit::ns),
                             report::format_value(f.leftover, report::Unit::ns));
  }
  /// Late idle time that changes of more specific host work would take away is theirs, not that of slow
  /// launching as such; what is left must still be worth its rule's threshold.
  void leave_to_others(std::vector<Priced>& priced) {
    if (std::none_of(findings_.begin(), findings_.end(), [](const Finding& f) { return f.leftover > 0; }))
      return;
    Change others;
    std::int64_t estimated = 0, alone = 0;
    int replayed = 0;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      const Finding& f = findings_[i];
      if (f.next || f.leftover > 0 || f.saving_high == kNoInt || !claims_launching(f)) continue;
      if (f.claimed > 0 || !by_replay(f)) {
        estimated += f.claimed > 0 ? f.claimed : f.saving_high;
        continue;
      }
      others.add(priced[i].ideal);
      alone = priced[i].saved.recorded;
      ++replayed;
    }
    const std::int64_t taken = (replayed == 1 ? alone : saved(others).recorded) + estimated;
    for (std::size_t i = findings_.size(); i-- > 0;) {
      Finding& f = findings_[i];
      if (f.leftover <= 0) continue;
      const double left = 1 - std::min(1.0, report::ratio(taken, f.leftover));
      f.others = std::min(taken, f.leftover);
      f.alone_low = f.saving_low;
      f.alone_high = f.saving_high;
      f.saving_low = part(f.saving_low, left);
      f.saving_high = part(f.saving_high, left);
      if (part(f.leftover, left) >= part(step_, kLateIdleShare)) continue;
      findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(i));
      priced.erase(priced.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  /// What saves next to nothing now may do so once the others are done, as host work does behind a device
  /// that limits.
  void wait_for_others(Finding& f) const {
    if (f.next || !by_replay(f) || f.saving_high >= least_saving(evidence_)) return;
    f.next = true;
    f.because += "; it limits only once what stands above is done";
  }
  static bool claims_launching(const Finding& f) {
    return f.category == "host" || f.category == "communication" || f.category == "graph";
  }
  void take(Finding& f, const Priced& priced) const {
    if (!priced.ideal.found) {  // the rule's estimate stays
      f.ideal.clear();
      return;
    }
    say_limit(f, priced);
    say_recording(f, priced.saved);
    f.saving_high = priced.saved.most();
    f.saving_low = f.mild.empty() ? part(priced.saved.least(), f.pessimism)
                                  : std::min(f.saving_high, priced.mildly_saved.least());
    if (replayed_.error() <= kExactError) return;
    lower_confidence(f);
    f.because += fmt::format("; replayed without changes the step is {} off what was recorded",
                             report::format_value(replayed_.error(), report::Unit::share));
  }
  /// Where a change saves much less than what it removes, as the rule has it: what keeps the step as long.
  void say_limit(Finding& f, const Priced& priced) const {
    const bool of_device = f.category == "communication" || f.category == "kernel" ||
                           f.category == "precision" || f.category == "copy";
    const std::int64_t saved = priced.saved.recorded;
    if (!of_device || saved <= 0 || f.saving_high / 2 < saved) return;
    const std::string limit = limit_behind(
        replayed_, priced.ideal, replayed_.identity(without_first_) / steps() - saved, without_first_);
    f.because += fmt::format("; it takes {} off the device's work, but {}",
                             report::format_value(f.saving_high, report::Unit::ns),
                             limit.empty() ? "then something else limits" : limit);
    f.aside = limit;
  }
  /// Where the host's pace decides what is saved and recording itself changes that.
  void say_recording(Finding& f, const Saved& saved) const {
    if (saved.most() - saved.least() <= part(saved.most(), kVisibleCost)) return;
    const auto ns = [](std::int64_t time) { return report::format_value(time, report::Unit::ns); };
    f.because += fmt::format(
        "; recording takes {} of the host's time: the change saves {} as recorded, {} with a host without it",
        report::format_value(1 - pace_, report::Unit::share), ns(saved.recorded), ns(saved.unrecorded));
    f.unrecorded = saved.unrecorded > saved.recorded;
  }
  /// Of what limits now: what limits behind it, and what the high end is without.
  static void say_aside(Finding& f) {
    if (f.next) f.aside.clear();
    if (f.next || !f.unrecorded) return;
    f.aside += fmt::format("{}up to {} where no profiler slows the host", f.aside.empty() ? "" : "; ",
                           report::format_rough(static_cast<double>(f.saving_high), report::Unit::ns));
  }
  /// An estimate of a part of something is no more than all of it.
  void keep_to_removed(Finding& f) const {
    if (!usable_ || by_replay(f) || f.removed.empty() || f.saving_high == kNoInt) return;
    const Change without = replayed_.change_of(f.removed);
    if (!without.found) return;
    f.saving_high = std::min(f.saving_high, saved(without).most());
    f.saving_low = std::min(f.saving_low, f.saving_high);
  }
  void doubt(Finding& f) const {
    lower_confidence(f);
    const bool unlinked = replayed_.usable();
    f.because += fmt::format(
        "; the saving is a share of the time, as the recording cannot be replayed: {}{}",
        report::format_value(unlinked ? replayed_.unlinked() : replayed_.error(), report::Unit::share),
        unlinked ? " of the window's device events come without their launch" : " off without changes");
  }
  void sort(std::vector<Priced>& priced) {
    std::vector<std::size_t> order(findings_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return ranks_before(findings_[a], findings_[b]); });
    std::vector<Finding> sorted;
    for (const std::size_t i : order) {
      sorted.push_back(std::move(findings_[i]));
      priced_.push_back(std::move(priced[i]));
    }
    findings_ = std::move(sorted);
  }

  /// Whether what it saves once others are done has a low end of its own.
  static bool ranges_later(const Finding& f) { return f.next && !f.mild.empty(); }

  /// Whether it saves little while those above limit, and much once they are done.
  bool waits_for_others(const Finding& f) const {
    return part(f.after_high, 1 / kSavesLater) > f.saving_high &&
           f.after_high - f.saving_high >= least_saving(evidence_);
  }

  /// Savings once the findings above are done. What then adds nothing goes behind what does, and so does what
  /// only then saves most.
  void after() {
    totals_.resize(findings_.size());
    chain(0);
    for (std::size_t i = first_replayed() + 1; i < findings_.size(); ++i) {
      Finding& f = findings_[i];
      f.covered = !f.next && by_replay(f) && (f.after_high < least_saving(evidence_) || waits_for_others(f));
    }
    chain(put_covered_last());
    for (Finding& f : findings_) f.next |= f.covered && f.after_high >= least_saving(evidence_);
    for (std::size_t i = 0; i < findings_.size(); ++i)
      if (by_replay(findings_[i]) && !findings_[i].next && !findings_[i].covered) limiting_ = totals_[i];
  }
  /// From which finding on the order is another one.
  std::size_t put_covered_last() {
    const auto covered = [&](const auto& f) { return f.covered; };
    const auto moved = static_cast<std::size_t>(std::find_if(findings_.begin(), findings_.end(), covered) -
                                                findings_.begin());
    std::vector<Priced> of_last, of_first;
    for (std::size_t i = 0; i < findings_.size(); ++i)
      (findings_[i].covered ? of_last : of_first).push_back(std::move(priced_[i]));
    std::stable_partition(findings_.begin(), findings_.end(), std::not_fn(covered));
    priced_ = std::move(of_first);
    std::move(of_last.begin(), of_last.end(), std::back_inserter(priced_));
    const bool same =
        std::all_of(findings_.begin() + static_cast<std::ptrdiff_t>(moved), findings_.end(), covered);
    return same ? findings_.size() : moved;
  }
  std::size_t first_replayed() const {
    return static_cast<std::size_t>(
        std::find_if(findings_.begin(), findings_.end(), [&](const Finding& f) { return by_replay(f); }) -
        findings_.begin());
  }
  /// Differences of replays with more and more changes, for the findings from `from` on. What limits only
  /// later does so once that is gone, too, of which estimates are a part.
  void chain(std::size_t from) {
    const std::size_t first = first_replayed();
    std::vector<Change> so_far(findings_.size()), mildly(findings_.size());
    Change all, estimated;
    Saved before, estimated_too;
    for (std::size_t i = 0; i < findings_.size() && from < findings_.size(); ++i) {
      const Finding& f = findings_[i];
      if (usable_ && f.ideal.empty() && !f.next && !f.removed.empty())
        estimated.add(replayed_.change_of(f.removed));
      if (!by_replay(f)) continue;
      if (f.next && estimated.found) {
        all.add(estimated);
        estimated = {};
        estimated_too = saved(all);
      }
      if (i >= from && ranges_later(findings_[i])) {
        mildly[i] = all;
        mildly[i].add(priced_[i].mild);
      }
      all.add(priced_[i].ideal);
      if (i >= from && (i != first || f.next)) so_far[i] = all;
      if (i < from) before = most_of(before, totals_[i]);
    }
    std::vector<Saved> mild_totals(findings_.size());
    parallel_for(2 * (findings_.size() - from), threads_, [&](std::size_t task) {
      const std::size_t i = from + task / 2;
      const Finding& f = findings_[i];
      if (!by_replay(f)) return;
      if (task % 2 == 0)
        totals_[i] = so_far[i].found ? saved(so_far[i]) : priced_[i].saved;
      else if (ranges_later(f))
        mild_totals[i] = saved(mildly[i]);
    });
    for (std::size_t i = from; i < findings_.size(); ++i) {
      Finding& f = findings_[i];
      if (!by_replay(f)) continue;
      if (f.next) before = most_of(before, estimated_too);
      const Saved added = totals_[i].above(before), mildly_added = mild_totals[i].above(before);
      f.after_high = added.most();
      f.small =
          f.next && f.after_high < least_saving(step_ - before.recorded, std::max(kMinShare, f.least_after));
      const double ratio = f.saving_high > 0 ? report::ratio(f.saving_low, f.saving_high) : f.pessimism;
      f.after_low = ranges_later(f) ? std::min(mildly_added.least(), f.after_high)
                                    : std::min(added.least(), part(f.after_high, ratio));
      before = most_of(before, totals_[i]);
    }
  }
  static Saved most_of(const Saved& a, const Saved& b) {
    return {std::max(a.recorded, b.recorded), std::max(a.unrecorded, b.unrecorded)};
  }

  bool worth_showing(const Finding& f) const {
    if (f.saving_high == kNoInt) return true;
    return f.saving_high >= least_saving(evidence_);
  }

  Together together() const {
    std::int64_t low = 0, high = 0, estimated = 0, left_over = 0, surest = 0;
    int count = 0;
    bool kernels = false;
    for (const Finding& f : findings_) {
      if (f.saving_high == kNoInt || f.next || f.covered || f.small) continue;
      ++count;
      low += f.saving_low;
      high += f.saving_high;
      surest = std::max(surest, f.saving_low);
      kernels |= f.shortens_kernels;
      if (!by_replay(f)) (f.leftover > 0 ? left_over : estimated) += f.saving_high;
    }
    if (count < 2) return {};
    const std::int64_t late = evidence_.idle_total(&analyze::IdleTotals::late) / evidence_.steps(),
                       limiting = limiting_.most();
    const double left = late > 0 && limiting > 0 ? std::max(0.0, 1 - report::ratio(limiting, late)) : 1;
    std::int64_t all = std::min(high, limiting + left_over + part(estimated, left));
    if (!kernels) all = std::min(all, most());
    return {std::min(all, std::max(surest, part(all, report::ratio(low, high)))), all};
  }

  std::vector<Finding>& findings_;
  const Evidence& evidence_;
  const ReplayedRank& replayed_;
  const unsigned threads_;
  const std::int64_t step_;
  bool usable_ = false, without_first_ = false;
  std::int64_t uncertainty_ = 0;  // ns of the mean step
  double pace_ = 1;               // of a host without what recording cost it
  std::int64_t unrecorded_ = 0;   // ns of the window with that host
  std::vector<Priced> priced_;
  std::vector<Saved> totals_;  // by finding: what it and those above it save
  Saved limiting_;             // what the replayed ones save together, those that are next or covered aside
};

}  // namespace

Together price(std::vector<Finding>& findings, const Evidence& evidence,
               const analyze::ReplayedRank& replayed, unsigned threads) {
  return Pricing(findings, evidence, replayed, threads).run();
}

}  // namespace stepscope::advise
