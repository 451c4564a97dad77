// The algebra of time. The only room where two ends are compared. Intervals are half-open [begin, end):
// touching ends do not overlap, and an interval of no length covers nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.h"

namespace stepscope::timeline {

using Time = std::int64_t;  ///< nanoseconds

struct Interval {
  Time begin = 0, end = 0;
  Time length() const { return end > begin ? end - begin : 0; }
  bool contains(Time t) const { return begin <= t && t < end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Length of the common part of two intervals, 0 when they do not meet.
Time overlap(Interval a, Interval b);

/// Disjoint, not touching, sorted, each of positive length: by construction.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// Any intervals in any order; empty and inverted ones are dropped, touching ones joined. O(n log n), O(n)
  /// if sorted.
  static IntervalSet of(Column<Interval> any);

  std::span<const Interval> parts() const& { return parts_; }
  std::span<const Interval> parts() const&& = delete;  // the parts would outlive the set
  bool empty() const { return parts_.empty(); }
  Time length() const;
  /// Length of what lies in `window`. O(log n + parts in the window).
  Time length_in(Interval window) const;
  IntervalSet within(Interval window) const;
  /// What `window` holds beside this set.
  IntervalSet gaps(Interval window) const;
  bool contains(Time t) const;

  friend IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  /// For intervals that come sorted by begin.
  void append(Interval next);
  Column<Interval> parts_;
};

IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
/// Of a short and a long set: O(short log long + parts of the result). So is subtract with a long `b`.
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

/// A set that knows the length up to each part: any window's share costs O(log n), however much it holds.
class MeasuredSet {
 public:
  MeasuredSet() : MeasuredSet(IntervalSet{}) {}
  explicit MeasuredSet(IntervalSet set);
  const IntervalSet& set() const { return set_; }
  Time length_in(Interval window) const;

 private:
  Time length_until(Time t) const;
  IntervalSet set_;
  std::vector<Time> before_;  // by part, and the whole
};

/// Cuts `window` by sets in order of priority: the k-th result is what set k covers and no earlier set does;
/// the last one is what none covers. Lengths add up to the window's.
std::vector<IntervalSet> partition(Interval window, std::span<const IntervalSet> by_priority);

/// A stretch on which a weighted sum is constant.
struct Level {
  Interval span;
  double value;
};

/// Sum of the weights of the intervals that cover each instant, as a step function over their hull.
Column<Level> sum_levels(std::span<const Interval> intervals, std::span<const double> weights);

/// Covered share of each of `bins` equal parts of `window`.
std::vector<double> binned_share(const IntervalSet& set, Interval window, std::size_t bins);

}  // namespace stepscope::timeline
