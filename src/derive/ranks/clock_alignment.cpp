#include "derive/ranks/clock_alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/median.h"

namespace stepscope::derive {
namespace {

using timeline::Time;

constexpr double kAligned = 20e3, kCoarse = 200e3, kRough = 5e6;  // ns
constexpr std::uint32_t kMinCollectives = 3;
constexpr double kMaxResidual = 1e6;    // ns, median
constexpr double kMaxRejected = 0.3;    // of a clock's ends
constexpr double kSomeRejected = 0.05;  // of a clock's ends: it may have jumped
constexpr Time kCausalSlack = 2'000;    // ns: error that time stamps may have within one collective
constexpr int kFits = 2;                // the second fit excludes collectives that contradict the first
constexpr std::size_t kMinOfPart = 2;   // collectives before and after a jump
constexpr double kClearJump = 8;        // times the usual step
constexpr double kOtherSteps = 0.5;     // of a jump: the largest other step, or it explains nothing

/// Ends of one kind have the same scatter. A kind is an exchange, a group size (powers of 2) and a message
/// size (powers of 4).
class Kinds {
 public:
  std::uint32_t of(const CollectiveRow& row, std::size_t ranks) {
    const auto size = static_cast<int>(std::bit_width(ranks));
    const auto bytes =
        static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.bytes)))) /
        2;
    return ids_.try_emplace({row.exchange, size, bytes}, static_cast<std::uint32_t>(ids_.size()))
        .first->second;
  }

 private:
  std::map<std::tuple<Exchange, int, int>, std::uint32_t> ids_;
};

class Aligner {
 public:
  explicit Aligner(Alignment& out) : out_(out), left_out_(out.matches.instances.size()) {}

  void run() {
    gather();
    fits_ = fit_clocks(ends_, out_.rows.size());
    why_.resize(out_.rows.size());
    jumps_.resize(out_.rows.size());
    foreign_.resize(out_.rows.size());
    leave_out_clocks();
    for (int round = 0; round < kFits; ++round) {
      gather();
      refit();
      if (round + 1 < kFits && !leave_out_contradictions()) break;
    }
    for (std::size_t q = 0; q < fits_.size(); ++q)
      out_.clocks.push_back({fits_[q], ClockState::apart, {}, jumps_[q], foreign_[q]});
    bound();
    double bend = 0;
    for (const ClockFit& fit : fits_) bend = std::max(bend, fit.bend);
    for (std::uint32_t q = 0; q < out_.clocks.size(); ++q)
      judge(out_.clocks[q], std::binary_search(out_.matches.crowded.begin(), out_.matches.crowded.end(), q),
            why_[q], bend);
    for (std::uint32_t i = 0; i < left_out_.size(); ++i) {
      if (!left_out_[i]) continue;
      out_.contradicting.push_back(i);
      for (const Member& member : out_.members(out_.matches.instances[i]))
        ++out_.clocks[member.rank].contradicting;
    }
  }

 private:
  bool usable(std::uint32_t i) const {
    return !left_out_[i] && synchronizes(out_.matches.instances[i].exchange);
  }

  void gather() {
    ends_.clear();
    Kinds kinds;
    for (std::uint32_t i = 0; i < out_.matches.instances.size(); ++i) {
      const Instance& instance = out_.matches.instances[i];
      for (std::uint32_t m = 0; usable(i) && m < instance.count; ++m) {
        const Member& member = out_.matches.members[instance.first + m];
        if (!why_.empty() && !why_[member.rank].empty()) continue;
        const CollectiveRow& row = out_.row(member);
        ends_.push_back({i, member.rank, kinds.of(row, instance.count), row.start, row.end});
      }
    }
  }

  /// Calls use(from, to) for the ends of each usable collective.
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t from = 0; from < ends_.size();) {
      std::size_t to = from + 1;
      while (to < ends_.size() && ends_[to].instance == ends_[from].instance) ++to;
      use(from, to);
      from = to;
    }
  }
  /// The last start and the first end of one collective with their clocks. The runners-up allow a comparison
  /// of each clock with all others.
  struct Extremes {
    Time last_start = std::numeric_limits<Time>::min(), second_start = last_start;
    Time first_end = std::numeric_limits<Time>::max(), second_end = first_end;
    std::uint32_t starts_last = 0, ends_first = 0;
  };
  Extremes extremes(std::size_t from, std::size_t to) const {
    Extremes x;
    for (std::size_t i = from; i < to; ++i) {
      const std::uint32_t q = ends_[i].clock;
      const Time start = fits_[q].map(ends_[i].start), end = fits_[q].map(ends_[i].end);
      if (start > x.last_start)
        x.second_start = x.last_start, x.last_start = start, x.starts_last = q;
      else
        x.second_start = std::max(x.second_start, start);
      if (end < x.first_end)
        x.second_end = x.first_end, x.first_end = end, x.ends_first = q;
      else
        x.second_end = std::min(x.second_end, end);
    }
    return x;
  }

  /// Clocks that are left out keep their first fit.
  void refit() {
    std::vector<ClockFit> fits = fit_clocks(ends_, out_.rows.size());
    for (std::size_t q = 0; q < fits.size(); ++q)
      if (why_[q].empty()) fits_[q] = fits[q];
  }

  /// Its ends are apart because it leaves its line, which its error says.
  static bool bends(const ClockFit& fit) { return fit.bend > 0 && fit.bend <= kRough; }

  /// `elsewhere`: it shows another time than all others, where a bend is chance.
  static bool is_off(const ClockFit& fit, bool elsewhere) {
    return (elsewhere || !bends(fit)) && fit.used + fit.rejected >= kMinCollectives &&
           (fit.residual_median > kMaxResidual || fit.rejected > kMaxRejected * (fit.used + fit.rejected));
  }

  /// Leaves out the clocks that do not fit, if they are under half of a component's: those of the others
  /// would be fitted to them. Members of another run are no part of any collective.
  void leave_out_clocks() {
    std::map<std::uint32_t, std::size_t> all, off;
    std::vector<std::optional<std::string>> jumps(fits_.size());
    const std::vector<bool> elsewhere = of_another_time();
    for (std::uint32_t q = 0; q < fits_.size(); ++q) {
      const ClockFit& fit = fits_[q];
      if (fit.rejected >= kMinOfPart && fit.rejected >= kSomeRejected * (fit.used + fit.rejected) &&
          !elsewhere[q])
        jumps[q] = jump_of(q);
      all[fit.component] += fit.used + fit.rejected > 0;
      off[fit.component] += is_off(fit, elsewhere[q]) || jumps[q];
    }
    bool any = false;
    for (std::uint32_t q = 0; q < fits_.size(); ++q) {
      const std::uint32_t component = fits_[q].component;
      foreign_[q] = is_off(fits_[q], elsewhere[q]) && !jumps[q] && 2 * off[component] < all[component];
      any = any || foreign_[q];
      if (foreign_[q])
        why_[q] = "its collectives do not end with those of the other ranks: it may be of another run";
      else if (jumps[q] && 2 * off[component] < all[component])
        why_[q] = *jumps[q], jumps_[q] = true;
    }
    if (any) drop_members(foreign_);
  }

  /// By clock: true if it shows no time in common with any other clock.
  std::vector<bool> of_another_time() const {
    constexpr Time kNever = std::numeric_limits<Time>::max();
    struct Span {
      Time begin = kNever, end = -kNever;
    };
    std::vector<Span> spans(fits_.size());
    for (const ClockEnd& one : ends_) {
      spans[one.clock].begin = std::min(spans[one.clock].begin, one.start);
      spans[one.clock].end = std::max(spans[one.clock].end, one.end);
    }
    std::vector<Span> others(fits_.size());  // first those before each clock, then those after it, too
    const auto add = [&](Span& all, std::size_t q) {
      others[q].begin = std::min(others[q].begin, all.begin);
      others[q].end = std::max(others[q].end, all.end);
      all.begin = std::min(all.begin, spans[q].begin);
      all.end = std::max(all.end, spans[q].end);
    };
    Span before, after;
    for (std::size_t q = 0; q < spans.size(); ++q) add(before, q);
    for (std::size_t q = spans.size(); q-- > 0;) add(after, q);
    std::vector<bool> apart(fits_.size());
    for (std::size_t q = 0; q < spans.size(); ++q)
      apart[q] = spans[q].end < others[q].begin || spans[q].begin > others[q].end;
    return apart;
  }

  /// "its clock jumps by 30.0 ms, 1.20 s after its first collective"; nullopt if one jump does not explain
  /// how far its ends are from those of the others.
  std::optional<std::string> jump_of(std::uint32_t q) const {
    std::vector<std::pair<Time, Time>> apart;  // reading, ns from the others
    for_each([&](std::size_t from, std::size_t to) {
      std::vector<Time> others;
      const ClockEnd* own = nullptr;
      for (std::size_t i = from; i < to; ++i) {
        if (ends_[i].clock == q)
          own = &ends_[i];
        else
          others.push_back(fits_[ends_[i].clock].map(ends_[i].end));
      }
      if (own != nullptr && !others.empty()) apart.emplace_back(own->end, own->end - median_of(others));
    });
    if (apart.size() < 2 * kMinOfPart) return std::nullopt;
    std::sort(apart.begin(), apart.end());
    std::vector<double> steps;  // from one collective to the next, which drift hardly changes
    for (std::size_t i = 1; i < apart.size(); ++i)
      steps.push_back(std::abs(static_cast<double>(apart[i].second - apart[i - 1].second)));
    const auto largest = std::max_element(steps.begin() + kMinOfPart - 1, steps.end() - kMinOfPart + 1);
    const auto at = static_cast<std::size_t>(largest - steps.begin()) + 1;
    const auto by = static_cast<double>(apart[at].second - apart[at - 1].second);
    *largest = 0;
    const double other = *std::max_element(steps.begin(), steps.end());
    if (std::abs(by) * kOtherSteps < other ||
        std::abs(by) < kClearJump * std::max(kOfNormal * median_of(steps), static_cast<double>(kCausalSlack)))
      return std::nullopt;
    return fmt::format("its clock jumps by {:.1f} ms, {:.2f} s after its first collective", by * 1e-6,
                       static_cast<double>(apart[at].first - apart.front().first) * 1e-9);
  }

  void drop_members(const std::vector<bool>& dropped) {
    Matches& matches = out_.matches;
    std::vector<Instance> instances;
    std::vector<Member> members;
    for (Instance instance : matches.instances) {
      const auto first = static_cast<std::uint32_t>(members.size());
      for (const Member& member : out_.members(instance))
        if (!dropped[member.rank]) members.push_back(member);
      instance.count = static_cast<std::uint32_t>(members.size()) - first;
      instance.first = first;
      if (instance.count > 1)
        instances.push_back(instance);
      else
        members.resize(first);
    }
    matches.instances = std::move(instances);
    matches.members = std::move(members);
    left_out_.assign(matches.instances.size(), false);
  }

  /// True if any collective was excluded.
  bool leave_out_contradictions() {
    bool any = false;
    for_each([&](std::size_t from, std::size_t to) {
      const Extremes x = extremes(from, to);
      const ClockFit &late = fits_[x.starts_last], &early = fits_[x.ends_first];
      const double doubt = late.uncertainty_edge + early.uncertainty_edge;
      if (x.starts_last == x.ends_first ||
          static_cast<double>(x.last_start - x.first_end) <= doubt + static_cast<double>(kCausalSlack))
        return;
      left_out_[ends_[from].instance] = any = true;
    });
    return any;
  }

  void bound() {
    for_each([&](std::size_t from, std::size_t to) {
      if (to - from < 2) return;
      const Extremes x = extremes(from, to);
      for (std::size_t i = from; i < to; ++i) {
        const std::uint32_t q = ends_[i].clock;
        RankClock& clock = out_.clocks[q];
        const Time start = fits_[q].map(ends_[i].start), end = fits_[q].map(ends_[i].end);
        const Time low = (x.starts_last == q ? x.second_start : x.last_start) - end;
        const Time high = (x.ends_first == q ? x.second_end : x.first_end) - start;
        clock.low = clock.collectives == 0 ? low : std::max(clock.low, low);
        clock.high = clock.collectives == 0 ? high : std::min(clock.high, high);
        ++clock.collectives;
      }
    });
  }

  /// `bend`: of the clock that bends most.
  static void judge(RankClock& clock, bool crowded, const std::string& why, double bend) {
    const ClockFit& fit = clock.fit;
    const double ends = fit.used + fit.rejected;
    if (!why.empty())
      clock.why = why;
    else if (clock.collectives < kMinCollectives && crowded)
      clock.why = "a step has more than 100,000 collectives without sequence numbers, too many to match";
    else if (clock.collectives == 0)
      clock.why =
          "no all-reduce or other collective that all ranks leave together is recorded on another rank too";
    else if (clock.collectives < kMinCollectives)
      clock.why = "fewer than 3 common collectives";
    else if (!bends(fit) && fit.residual_median > kMaxResidual)
      clock.why = "its collectives end more than 1 ms apart";
    else if (!bends(fit) && fit.rejected > kMaxRejected * ends)
      clock.why = "over 30 % of its collectives' end times do not fit";
    else if (static_cast<double>(clock.low - clock.high) > 2 * (static_cast<double>(kCausalSlack) + bend))
      clock.why = "some collectives would end before the last rank has arrived";
    else if (fit.uncertainty_edge > kRough)
      clock.why = "its error may exceed 5 ms";
    else
      clock.state = fit.uncertainty_edge <= kAligned  ? ClockState::aligned
                    : fit.uncertainty_edge <= kCoarse ? ClockState::coarse
                                                      : ClockState::rough;
  }

  Alignment& out_;
  std::vector<bool> left_out_;  // by instance
  std::vector<ClockEnd> ends_;
  std::vector<ClockFit> fits_;
  std::vector<std::string> why_;       // by clock: why it is left out, or ""
  std::vector<bool> jumps_, foreign_;  // by clock
};

}  // namespace

std::string_view name_of(ClockState state) {
  constexpr std::string_view kNames[] = {"aligned", "coarse", "rough", "not aligned"};
  return kNames[static_cast<std::size_t>(state)];
}

Alignment align_clocks(Collectives collectives) {
  Alignment out{std::move(collectives), {}, {}};
  Aligner(out).run();
  return out;
}

}  // namespace stepscope::derive
