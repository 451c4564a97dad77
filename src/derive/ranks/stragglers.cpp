#include "derive/ranks/stragglers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/median.h"

namespace stepscope::derive {
namespace {

using timeline::Time;

constexpr double kMinStepSpread = 0.001;    // of the step
constexpr double kPersistentShare = 0.01;   // of the step
constexpr double kSure = 4.5, kLikely = 3;  // z
constexpr double kOftenLargest = 0.8;       // of the steps
constexpr std::size_t kManySteps = 5;
constexpr double kTransientShare = 0.05;  // of the step
constexpr double kTransientSpread = 8;    // robust standard deviations
constexpr double kFelt = 0.25;            // of the excess: by which the other ranks' step is longer, at least
constexpr double kSecond = 0.4;           // of the first part

Time median(std::vector<Time> values) { return median_of(values); }

double spread_of(std::vector<Time> values) {
  const Time middle = median(values);
  for (Time& value : values) value = std::abs(value - middle);
  return kOfNormal * static_cast<double>(median(std::move(values)));
}

bool own(std::size_t part) {
  return part != static_cast<std::size_t>(StepPart::wait) &&
         part != static_cast<std::size_t>(StepPart::transfer);
}

Time own_work(const PartsOfStep& parts) {
  Time sum = 0;
  for (std::size_t p = 0; p < kStepParts; ++p)
    if (own(p)) sum += parts[p];
  return sum;
}

class StragglerFinder {
 public:
  explicit StragglerFinder(const std::vector<std::vector<PartsOfStep>>& parts)
      : parts_(parts), ranks_(parts.size()), steps_(parts.front().size()) {
    std::vector<Time> lengths;
    for (const auto& steps : parts)
      for (const PartsOfStep& step : steps)
        lengths.push_back(std::accumulate(step.begin(), step.end(), Time{0}));
    step_ = static_cast<double>(std::max<Time>(1, median(lengths)));
    beyond_.assign(ranks_, std::vector<PartsOfStep>(steps_));
    excess_.assign(ranks_, std::vector<Time>(steps_));
    for (std::size_t k = 0; k < steps_; ++k) compare(k);
  }

  StragglerAnswer run() {
    StragglerAnswer answer;
    for (std::size_t r = 0; r < ranks_; ++r) answer.beyond_median.push_back(typical(r));
    find_persistent(answer);
    find_transient(answer);
    return answer;
  }

 private:
  /// Computes one step's excess of parts and own work above the median rank's.
  void compare(std::size_t k) {
    std::vector<Time> values(ranks_);
    for (std::size_t p = 0; p < kStepParts; ++p) {
      for (std::size_t r = 0; r < ranks_; ++r) values[r] = parts_[r][k][p];
      const Time base = median(values);
      for (std::size_t r = 0; r < ranks_; ++r) {
        beyond_[r][k][p] = parts_[r][k][p] - base;
        if (own(p)) excess_[r][k] += beyond_[r][k][p];
      }
    }
  }
  PartsOfStep typical(std::size_t r) const {
    PartsOfStep out{};
    for (std::size_t p = 0; p < kStepParts; ++p) {
      std::vector<Time> values;
      for (std::size_t k = 0; k < steps_; ++k) values.push_back(beyond_[r][k][p]);
      out[p] = median(std::move(values));
    }
    return out;
  }
  static void name_parts(Straggler& s, const PartsOfStep& beyond) {
    const auto largest = [&](std::size_t but) {
      std::size_t best = kStepParts;
      for (std::size_t p = 0; p < kStepParts; ++p)
        if (own(p) && p != but && (best == kStepParts || beyond[p] > beyond[best])) best = p;
      return best;
    };
    const std::size_t first = largest(kStepParts), second = largest(first);
    s.part = static_cast<StepPart>(first);
    const bool also = static_cast<double>(beyond[second]) >= kSecond * static_cast<double>(beyond[first]);
    s.second = static_cast<StepPart>(also ? second : first);
  }
  /// How much shorter the longest own work of step k would be with these ranks at the level `base` of the
  /// excess.
  Time cost(const std::vector<bool>& mended, std::size_t k, Time base = 0) const {
    Time longest = 0, without = 0;
    for (std::size_t r = 0; r < ranks_; ++r) {
      const Time work = own_work(parts_[r][k]);
      longest = std::max(longest, work);
      without = std::max(without, mended[r] ? work - std::max<Time>(0, excess_[r][k] - base) : work);
    }
    return longest - without;
  }
  Time usual_cost(const std::vector<bool>& mended, Time base) const {
    std::vector<Time> costs;
    for (std::size_t k = 0; k < steps_; ++k) costs.push_back(cost(mended, k, base));
    return median(std::move(costs));
  }
  std::vector<bool> only(std::size_t r) const {
    std::vector<bool> one(ranks_);
    one[r] = true;
    return one;
  }

  void find_persistent(StragglerAnswer& answer) const {
    std::vector<Time> typical(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) typical[r] = median(excess_[r]);
    const std::vector<bool> upper = slow_half(typical);
    std::vector<Time> rest;  // all ranks, if no slow half is told from the others
    for (std::size_t r = 0; r < ranks_; ++r)
      if (!upper[r]) rest.push_back(typical[r]);
    const Time middle = median(rest), base = rest.size() < ranks_ ? middle : 0;
    const double spread = std::max(kMinStepSpread * step_, spread_of(rest));
    std::vector<bool> slow(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      const double z = static_cast<double>(typical[r] - middle) / spread;
      if (static_cast<double>(typical[r] - base) < kPersistentShare * step_ || z < kLikely) continue;
      if (!upper[r] && z < kSure && !often_largest(r)) continue;
      Straggler s{static_cast<std::uint32_t>(r)};
      s.excess = typical[r] - base;
      s.z = z;
      name_parts(s, answer.beyond_median[r]);
      s.cost = usual_cost(only(r), base);
      slow[r] = true;
      answer.stragglers.push_back(s);
    }
    if (answer.stragglers.size() > 1) answer.cost_together = usual_cost(slow, base);
    std::stable_sort(answer.stragglers.begin(), answer.stragglers.end(),
                     [](const Straggler& a, const Straggler& b) { return a.excess > b.excess; });
  }
  /// Two ranks or more above a gap that is wider than the groups on either side of it; none if there is no
  /// such gap, or if it is not there in most steps.
  std::vector<bool> slow_half(const std::vector<Time>& typical) const {
    std::vector<bool> none(ranks_);
    if (steps_ < kManySteps) return none;
    std::vector<Time> sorted = typical;
    std::sort(sorted.begin(), sorted.end());
    std::size_t from = ranks_;  // of the upper group
    for (std::size_t i = (ranks_ + 1) / 2; i + 1 < ranks_; ++i) {
      const Time gap = sorted[i] - sorted[i - 1];
      if (gap > std::max(sorted[i - 1] - sorted.front(), sorted.back() - sorted[i])) from = i;
    }
    if (from == ranks_) return none;
    std::vector<bool> upper(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) upper[r] = typical[r] >= sorted[from];
    std::size_t apart = 0;
    for (std::size_t k = 0; k < steps_; ++k) {
      Time least = std::numeric_limits<Time>::max(), most = std::numeric_limits<Time>::min();
      for (std::size_t r = 0; r < ranks_; ++r)
        if (upper[r])
          least = std::min(least, excess_[r][k]);
        else
          most = std::max(most, excess_[r][k]);
      apart += least > most;
    }
    return static_cast<double>(apart) >= kOftenLargest * static_cast<double>(steps_) ? upper : none;
  }
  bool often_largest(std::size_t r) const {
    if (steps_ < kManySteps) return false;
    std::size_t times = 0;
    for (std::size_t k = 0; k < steps_; ++k) {
      bool largest = true;
      for (std::size_t other = 0; other < ranks_; ++other) largest &= excess_[other][k] <= excess_[r][k];
      times += largest;
    }
    return static_cast<double>(times) >= kOftenLargest * static_cast<double>(steps_);
  }

  static Time length_of(const PartsOfStep& parts) {
    return std::accumulate(parts.begin(), parts.end(), Time{0});
  }
  /// By step and rank: how much longer than in its median step the median of the other ranks took, in this
  /// step or in the next, where the end of a step may be waited for.
  std::vector<std::vector<Time>> felt_by_others() const {
    std::vector<std::vector<Time>> longer(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      for (const PartsOfStep& step : parts_[r]) longer[r].push_back(length_of(step));
      const Time usual = median(longer[r]);
      for (Time& length : longer[r]) length -= usual;
    }
    std::vector<std::vector<Time>> felt(steps_, std::vector<Time>(ranks_));
    for (std::size_t k = 0; k < steps_; ++k) {
      std::vector<Time> sorted;
      for (std::size_t r = 0; r < ranks_; ++r)
        sorted.push_back(std::max(longer[r][k], k + 1 < steps_ ? longer[r][k + 1] : longer[r][k]));
      const std::vector<Time> own = sorted;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t r = 0; r < ranks_; ++r) {
        const std::size_t middle = (ranks_ - 1) / 2;  // without r, the ranks above it move down
        felt[k][r] = sorted[middle + (own[r] <= sorted[middle] ? 1 : 0)];
      }
    }
    return felt;
  }

  void find_transient(StragglerAnswer& answer) const {
    const std::vector<std::vector<Time>> felt = felt_by_others();
    std::vector<Time> all;
    for (const std::vector<Time>& steps : excess_) all.insert(all.end(), steps.begin(), steps.end());
    const double spread = std::max(kMinStepSpread * step_, spread_of(std::move(all)));
    std::vector<bool> known(ranks_);
    for (const Straggler& s : answer.stragglers) known[s.rank] = true;
    for (std::size_t k = 0; k < steps_; ++k) {
      for (std::size_t r = 0; r < ranks_; ++r) {
        const auto excess = static_cast<double>(excess_[r][k]);
        if (known[r] || excess < kTransientShare * step_ || excess < kTransientSpread * spread ||
            static_cast<double>(felt[k][r]) < kFelt * excess)
          continue;
        Straggler s{static_cast<std::uint32_t>(r), false, static_cast<std::uint32_t>(k)};
        s.excess = excess_[r][k];
        s.z = excess / spread;
        s.cost = cost(only(r), k);
        name_parts(s, beyond_[r][k]);
        answer.stragglers.push_back(s);
      }
    }
  }

  const std::vector<std::vector<PartsOfStep>>& parts_;
  const std::size_t ranks_, steps_;
  double step_ = 1;                               // ns, the median step
  std::vector<std::vector<PartsOfStep>> beyond_;  // [rank][step], above the median rank's
  std::vector<std::vector<Time>> excess_;         // [rank][step], excess of own work
};

}  // namespace

std::string_view name_of(StepPart part) {
  constexpr std::string_view kNames[kStepParts] = {"compute", "transfer", "wait", "copy",   "input",
                                                   "alloc",   "sync",     "host", "python", "pending"};
  return kNames[static_cast<std::size_t>(part)];
}

StragglerAnswer find_stragglers(const std::vector<std::vector<PartsOfStep>>& parts) {
  const auto ragged = [&](const auto& steps) { return steps.size() != parts.front().size(); };
  if (parts.size() < kMinRanks || parts.front().empty() || std::any_of(parts.begin(), parts.end(), ragged))
    return {};
  return StragglerFinder(parts).run();
}

}  // namespace stepscope::derive
