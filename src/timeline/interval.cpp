#include "timeline/interval.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace stepscope::timeline {

Time overlap(Interval a, Interval b) {
  return Interval{std::max(a.begin, b.begin), std::min(a.end, b.end)}.length();
}

void IntervalSet::append(Interval next) {
  if (next.length() == 0) return;
  if (!parts_.empty() && next.begin <= parts_.back().end)
    parts_.back().end = std::max(parts_.back().end, next.end);
  else
    parts_.push_back(next);
}

IntervalSet IntervalSet::of(Column<Interval> any) {
  const auto earlier = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  sort_runs(any, earlier);
  auto last = any.begin();  // the last finished part; parts overwrite `any` from the front
  bool none = true;
  for (const Interval next : any) {
    if (next.length() == 0) continue;
    if (!none && next.begin <= last->end)
      last->end = std::max(last->end, next.end);
    else
      *(none ? last : ++last) = next;
    none = false;
  }
  any.erase(none ? last : last + 1, any.end());
  IntervalSet set;
  set.parts_ = std::move(any);
  return set;
}

Time IntervalSet::length() const {
  Time sum = 0;
  for (const Interval& part : parts_) sum += part.length();
  return sum;
}

namespace {

using Parts = std::span<const Interval>;

/// Index of the first part that ends after `t`.
std::size_t first_ending_after(Parts parts, Time t) {
  return static_cast<std::size_t>(
      std::upper_bound(parts.begin(), parts.end(), t,
                       [](Time value, const Interval& part) { return value < part.end; }) -
      parts.begin());
}

/// The same, searching from `from` on, by galloping: fast if the result is near.
std::size_t next_ending_after(Parts parts, std::size_t from, Time t) {
  std::size_t stride = 1;
  while (from + stride < parts.size() && parts[from + stride].end <= t) from += stride, stride *= 2;
  const Parts near = parts.subspan(std::min(from, parts.size()));
  return from + first_ending_after(near.first(std::min(stride, near.size())), t);
}

}  // namespace

Time IntervalSet::length_in(Interval window) const {
  Time sum = 0;
  for (std::size_t i = first_ending_after(parts_, window.begin);
       i < parts_.size() && parts_[i].begin < window.end; ++i)
    sum += overlap(parts_[i], window);
  return sum;
}

IntervalSet IntervalSet::within(Interval window) const {
  IntervalSet set;
  for (std::size_t i = first_ending_after(parts_, window.begin);
       i < parts_.size() && parts_[i].begin < window.end; ++i)
    set.append({std::max(parts_[i].begin, window.begin), std::min(parts_[i].end, window.end)});
  return set;
}

IntervalSet IntervalSet::gaps(Interval window) const {
  IntervalSet whole;
  whole.append(window);
  return subtract(whole, *this);
}

MeasuredSet::MeasuredSet(IntervalSet set) : set_(std::move(set)) {
  Time sum = 0;
  for (const Interval& part : set_.parts()) {
    before_.push_back(sum);
    sum += part.length();
  }
  before_.push_back(sum);
}

Time MeasuredSet::length_until(Time t) const {
  const std::size_t i = first_ending_after(set_.parts(), t);
  return before_[i] + (i < set_.parts().size() ? std::max<Time>(0, t - set_.parts()[i].begin) : 0);
}

Time MeasuredSet::length_in(Interval window) const {
  return window.length() == 0 ? 0 : length_until(window.end) - length_until(window.begin);
}

bool IntervalSet::contains(Time t) const {
  const std::size_t i = first_ending_after(parts_, t);
  return i < parts_.size() && parts_[i].contains(t);
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  Column<Interval> both(a.parts_.size() + b.parts_.size());
  std::merge(a.parts_.begin(), a.parts_.end(), b.parts_.begin(), b.parts_.end(), both.begin(),
             [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  return IntervalSet::of(std::move(both));
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  set.parts_.reserve(std::min(a.parts_.size(), b.parts_.size()));
  for (std::size_t i = 0, j = 0; i < a.parts_.size() && j < b.parts_.size();) {
    const Interval x = a.parts_[i], y = b.parts_[j];
    set.append({std::max(x.begin, y.begin), std::min(x.end, y.end)});
    if (x.end < y.end)
      i = next_ending_after(a.parts_, i + 1, y.begin);
    else
      j = next_ending_after(b.parts_, j + 1, x.begin);
  }
  return set;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet set;
  set.parts_.reserve(a.parts_.size());
  std::size_t j = 0;
  for (const Interval& part : a.parts_) {
    Time at = part.begin;
    j = next_ending_after(b.parts_, j, at);
    for (std::size_t k = j; k < b.parts_.size() && b.parts_[k].begin < part.end; ++k) {
      set.append({at, b.parts_[k].begin});
      at = std::max(at, b.parts_[k].end);
    }
    set.append({at, part.end});
  }
  return set;
}

std::vector<IntervalSet> partition(Interval window, std::span<const IntervalSet> by_priority) {
  std::vector<IntervalSet> shares;
  IntervalSet left = IntervalSet::of({window});
  for (const IntervalSet& set : by_priority) {
    shares.push_back(intersect(left, set));
    left = subtract(left, set);
  }
  shares.push_back(std::move(left));
  return shares;
}

Column<Level> sum_levels(std::span<const Interval> intervals, std::span<const double> weights) {
  struct Change {
    Time time;
    double weight;
    int count;
  };
  Column<Change> changes;
  changes.reserve(intervals.size() * 2);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].length() == 0) continue;
    changes.push_back({intervals[i].begin, weights[i], 1});
    changes.push_back({intervals[i].end, -weights[i], -1});
  }
  sort_runs(changes, [](const Change& a, const Change& b) { return a.time < b.time; });
  Column<Level> levels;
  levels.reserve(changes.size());
  double sum = 0;
  int open = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Time from = changes[i].time;
    for (; i < changes.size() && changes[i].time == from; ++i) {
      sum += changes[i].weight;
      open += changes[i].count;
    }
    if (open == 0) sum = 0;  // drops the rounding error once no interval is open
    if (i < changes.size()) levels.push_back({{from, changes[i].time}, sum});
  }
  return levels;
}

std::vector<double> binned_share(const IntervalSet& set, Interval window, std::size_t bins) {
  std::vector<double> shares(bins);
  const Time length = window.length();
  for (std::size_t i = 0; i < bins; ++i) {
    const auto edge = [&](std::size_t k) {
      return window.begin + static_cast<Time>(static_cast<__int128>(length) * static_cast<__int128>(k) /
                                              static_cast<__int128>(bins));
    };
    const Interval bin{edge(i), edge(i + 1)};
    if (bin.length() > 0)
      shares[i] = static_cast<double>(set.length_in(bin)) / static_cast<double>(bin.length());
  }
  return shares;
}

}  // namespace stepscope::timeline
