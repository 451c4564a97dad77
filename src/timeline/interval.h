// The algebra of time. Interval ends are compared only in this folder. Intervals are half-open [begin, end):
// touching ends do not overlap, and an interval of zero length covers nothing.
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

/// Length of the common part of two intervals; 0 if they do not overlap.
Time overlap(Interval a, Interval b);

/// Intervals that are always sorted, disjoint, not touching, and of positive length.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// From intervals in any order. Empty and inverted intervals are dropped, touching and overlapping ones
  /// joined. O(n log n); O(n) if sorted.
  static IntervalSet of(Column<Interval> any);

  std::span<const Interval> parts() const& { return parts_; }
  std::span<const Interval> parts() const&& = delete;  // the parts would outlive the set
  bool empty() const { return parts_.empty(); }
  Time length() const;
  /// Length of the part in `window`. O(log n + parts in the window).
  Time length_in(Interval window) const;
  IntervalSet within(Interval window) const;
  /// The parts of `window` outside this set.
  IntervalSet gaps(Interval window) const;
  bool contains(Time t) const;

  friend IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
  friend IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;

 private:
  /// Call it with intervals in order of begin.
  void append(Interval next);
  Column<Interval> parts_;
};

IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
/// O(short log long + parts of the result) for a short and a long set. The same holds for subtract() with a
/// long `b`.
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);

/// A set with prefix sums of its length: length_in() is O(log n), however many parts are in the window.
class MeasuredSet {
 public:
  MeasuredSet() : MeasuredSet(IntervalSet{}) {}
  explicit MeasuredSet(IntervalSet set);
  const IntervalSet& set() const { return set_; }
  Time length_in(Interval window) const;

 private:
  Time length_until(Time t) const;
  IntervalSet set_;
  std::vector<Time> before_;  // length before each part, then the total
};

/// Cuts `window` by sets in order of priority: result k is what set k covers and no earlier set does; the
/// last result is what no set covers. Their lengths add up to the window's.
std::vector<IntervalSet> partition(Interval window, std::span<const IntervalSet> by_priority);

/// An interval on which a weighted sum is constant.
struct Level {
  Interval span;
  double value;
};

/// Sum of the weights of the intervals that cover each instant, as a step function over their hull.
Column<Level> sum_levels(std::span<const Interval> intervals, std::span<const double> weights);

/// Share that `set` covers of each of `bins` equal parts of `window`.
std::vector<double> binned_share(const IntervalSet& set, Interval window, std::size_t bins);

}  // namespace stepscope::timeline
