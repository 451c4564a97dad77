#include "advise/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "advise/constants.h"
#include "base/parallel.h"
#include "report/statistics.h"
#include "report/units.h"

namespace stepscope::advise {
namespace {

using analyze::Change;
using analyze::ReplayedRank;
using report::kNoInt;

std::int64_t part(std::int64_t time, double share) {
  return static_cast<std::int64_t>(static_cast<double>(time) * share);
}

void lower_confidence(Finding& f) {
  if (f.confidence != Confidence::low)
    f.confidence = static_cast<Confidence>(static_cast<int>(f.confidence) - 1);
}

/// Expected saving: the middle of the range, weighed by confidence.
double expected(std::int64_t low, std::int64_t high, Confidence confidence) {
  if (high == kNoInt) return 0;
  constexpr double kWeight[] = {0.4, 0.7, 1.0};
  return (static_cast<double>(low) + static_cast<double>(high)) / 2 *
         kWeight[static_cast<std::size_t>(confidence)];
}

}  // namespace

bool replayable(const ReplayedRank& replayed) {
  return replayed.usable() && replayed.unlinked() <= kMostUnlinked;
}

std::int64_t most_saving(const Evidence& evidence) {
  return std::max<std::int64_t>(0, evidence.step_length() - evidence.fact("compute") / evidence.steps());
}

namespace {
std::int64_t least_of(std::int64_t step, double share) { return std::max(kLeastSaving, part(step, share)); }
}  // namespace

std::int64_t least_saving(const Evidence& evidence) { return least_of(evidence.step_length(), kLeastShare); }

bool ranks_before(const Finding& a, const Finding& b) {
  if (a.small != b.small) return b.small;
  if (a.next != b.next) return b.next;
  const double of_a = expected(a.saving_low, a.saving_high, a.confidence),
               of_b = expected(b.saving_low, b.saving_high, b.confidence);
  if (of_a != of_b) return of_a > of_b;
  return a.effort != b.effort ? a.effort < b.effort : std::tie(a.id, a.rank) < std::tie(b.id, b.rank);
}

namespace {

/// On the device; on the host, where none is recorded. In the order of the steps, ns.
std::vector<std::int64_t> step_lengths(const Evidence& e, bool device) {
  const report::Table* steps = table_of(e.reports().steps, "Step time");
  const report::Ints* lengths =
      steps == nullptr ? nullptr : ints_of(*steps, device ? "device_length" : "total");
  std::vector<std::int64_t> known;
  for (std::size_t row = 0; lengths != nullptr && row < lengths->size(); ++row)
    if (e.mine(*steps, row) && (*lengths)[row] != kNoInt) known.push_back((*lengths)[row]);
  return known;
}

/// The median distance from the median.
std::int64_t spread_of(std::vector<std::int64_t> lengths) {
  const std::int64_t median = report::quantile(lengths, 0.5);
  for (std::int64_t& length : lengths) length = std::abs(length - median);
  return report::quantile(lengths, 0.5);
}

/// By how much the mean step of two recordings of the same program differs, nearly always: kTwoRecordings ×
/// the standard error of a step's length.
std::int64_t step_uncertainty(const Evidence& e, bool device) {
  const std::vector<std::int64_t> lengths = step_lengths(e, device);
  if (lengths.size() < 2) return 0;
  constexpr double kOfNormal = 1.4826;  // standard deviation / median distance
  return static_cast<std::int64_t>(kTwoRecordings * kOfNormal * static_cast<double>(spread_of(lengths)) /
                                   std::sqrt(static_cast<double>(lengths.size())));
}

}  // namespace

std::optional<SlowFirstStep> slow_first_step(const Evidence& evidence, const ReplayedRank& replayed) {
  std::vector<std::int64_t> lengths = step_lengths(evidence, replayed.has_device());
  if (lengths.size() < kStepsToCompare || std::ssize(lengths) != replayed.steps()) return std::nullopt;
  const std::int64_t first = lengths.front(), median = report::quantile(lengths, 0.5);
  const double limit = std::max(kOutlierSpreads * static_cast<double>(spread_of(lengths)),
                                kOutlierShare * static_cast<double>(median));
  if (static_cast<double>(first - median) <= limit) return std::nullopt;
  return SlowFirstStep{first, median};
}

std::int64_t saved_per_step(const ReplayedRank& replayed, const analyze::Change& change, bool without_first) {
  return replayed.saved(change, without_first) / (replayed.steps() - (without_first ? 1 : 0));
}

namespace {

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
  }

  Together run() {
    alone();
    after();
    for (Finding& f : findings_)
      if (!f.next || !by_replay(f)) f.small = !worth_showing(f);
    for (Finding& f : findings_)
      if (f.saving_high != kNoInt && f.saving_low < part(step_, kLeastShare)) f.saving_low = 0;
    return together();
  }

 private:
  struct Priced {
    Change ideal, mild;
    std::int64_t saved = 0, mildly_saved = 0;  ///< ns per step, by the change alone
  };

  std::int64_t saved(const Change& change) const {
    if (!change.found) return 0;
    return std::max<std::int64_t>(0, saved_per_step(replayed_, change, without_first_));
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
    const auto most = static_cast<std::int64_t>(kMostWidening * static_cast<double>(f.saving_high));
    f.saving_high += std::min(most, uncertainty_);
    if (!f.shortens_kernels) f.saving_high = std::min(f.saving_high, this->most());
    f.saving_low -= std::min({most, uncertainty_, f.saving_low});
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
    for (Finding& f : findings_) widen(f);
    for (Finding& f : findings_)
      if (!by_replay(f) && !f.ideal.empty() && f.saving_high != kNoInt && replayed_.has_device()) doubt(f);
    leave_to_others(priced);
    for (Finding& f : findings_) wait_for_others(f);
    sort(priced);
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
      alone = priced[i].saved;
      ++replayed;
    }
    const std::int64_t taken = (replayed == 1 ? alone : saved(others)) + estimated;
    for (std::size_t i = findings_.size(); i-- > 0;) {
      Finding& f = findings_[i];
      if (f.leftover <= 0) continue;
      const double left = 1 - std::min(1.0, report::ratio(taken, f.leftover));
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
    if (f.category == "communication" && priced.saved > 0 && f.saving_high / 2 >= priced.saved)
      f.because += fmt::format("; it takes {} of the step, but without it something else limits",
                               report::format_value(f.saving_high, report::Unit::ns));
    f.saving_high = priced.saved;
    f.saving_low =
        f.mild.empty() ? part(f.saving_high, f.pessimism) : std::min(f.saving_high, priced.mildly_saved);
    if (replayed_.error() <= kExactError) return;
    lower_confidence(f);
    f.because += fmt::format("; replayed without changes the step is {} off what was recorded",
                             report::format_value(replayed_.error(), report::Unit::share));
  }
  /// An estimate of a part of something is no more than all of it.
  void keep_to_removed(Finding& f) const {
    if (!usable_ || by_replay(f) || f.removed.empty() || f.saving_high == kNoInt) return;
    const Change without = replayed_.change_of(f.removed);
    if (!without.found) return;
    f.saving_high = std::min(f.saving_high, saved(without));
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

  /// Savings once the findings above are done: differences of replays with more and more changes.
  void after() {
    const auto first = static_cast<std::size_t>(
        std::find_if(findings_.begin(), findings_.end(), [&](const Finding& f) { return by_replay(f); }) -
        findings_.begin());
    std::vector<Change> so_far(findings_.size()), mildly(findings_.size());
    Change all;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      if (!by_replay(findings_[i])) continue;
      if (ranges_later(findings_[i])) {
        mildly[i] = all;
        mildly[i].add(priced_[i].mild);
      }
      all.add(priced_[i].ideal);
      if (i != first) so_far[i] = all;
    }
    std::vector<std::int64_t> total(findings_.size()), mild_total(findings_.size());
    parallel_for(2 * findings_.size(), threads_, [&](std::size_t task) {
      const std::size_t i = task / 2;
      const Finding& f = findings_[i];
      if (!by_replay(f)) return;
      if (task % 2 == 0)
        total[i] = i == first ? priced_[i].saved : saved(so_far[i]);
      else if (ranges_later(f))
        mild_total[i] = saved(mildly[i]);
    });
    std::int64_t before = 0;
    for (std::size_t i = 0; i < findings_.size(); ++i) {
      Finding& f = findings_[i];
      if (!by_replay(f)) continue;
      f.after_high = std::max<std::int64_t>(0, total[i] - before);
      f.small = f.next && f.after_high < least_of(step_ - before, std::max(kLeastShare, f.least_after));
      const double ratio = f.saving_high > 0 ? report::ratio(f.saving_low, f.saving_high) : f.pessimism;
      f.after_low = ranges_later(f) ? std::clamp<std::int64_t>(mild_total[i] - before, 0, f.after_high)
                                    : part(f.after_high, ratio);
      before = std::max(before, total[i]);
      if (!f.next) limiting_ = before;
    }
  }

  bool worth_showing(const Finding& f) const {
    if (f.saving_high == kNoInt) return true;
    return f.saving_high >= least_saving(evidence_);
  }

  Together together() const {
    std::int64_t low = 0, high = 0, estimated = 0, left_over = 0;
    int count = 0;
    bool kernels = false;
    for (const Finding& f : findings_) {
      if (f.saving_high == kNoInt || f.next || f.small) continue;
      ++count;
      low += f.saving_low;
      high += f.saving_high;
      kernels |= f.shortens_kernels;
      if (!by_replay(f)) (f.leftover > 0 ? left_over : estimated) += f.saving_high;
    }
    if (count < 2) return {};
    const std::int64_t late = evidence_.fact("idle_late") / evidence_.steps();
    const double left = late > 0 && limiting_ > 0 ? std::max(0.0, 1 - report::ratio(limiting_, late)) : 1;
    std::int64_t all = std::min(high, limiting_ + left_over + part(estimated, left));
    if (!kernels) all = std::min(all, most());
    return {part(all, report::ratio(low, high)), all};
  }

  std::vector<Finding>& findings_;
  const Evidence& evidence_;
  const ReplayedRank& replayed_;
  const unsigned threads_;
  const std::int64_t step_;
  bool usable_ = false, without_first_ = false;
  std::int64_t uncertainty_ = 0;  // ns of the mean step
  std::vector<Priced> priced_;
  std::int64_t limiting_ = 0;  // what the replayed ones save together, those that are next aside
};

}  // namespace

Together price(std::vector<Finding>& findings, const Evidence& evidence,
               const analyze::ReplayedRank& replayed, unsigned threads) {
  return Pricing(findings, evidence, replayed, threads).run();
}

}  // namespace stepscope::advise
