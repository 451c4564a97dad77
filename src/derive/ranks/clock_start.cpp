#include "derive/ranks/clock_start.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <unordered_map>

#include "base/median.h"

namespace stepscope::derive {
namespace {

using timeline::Time;

constexpr std::size_t kPairs = 100;  // random pairs; 1/10 are good when 2/3 of the ends are wrong
constexpr double kMaxDrift = 1e-3;   // ten times the drift of a poor quartz
constexpr double kMinSpan = 5e8;     // ns: over less time, drift and noise cannot be separated
constexpr std::size_t kMinForDrift = 3;
constexpr double kOutlier = 4 * kOfNormal;  // times the median distance

double upper_median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Two clocks and the number of their common collectives.
struct Pair {
  std::uint32_t parent, child;
  std::uint32_t common = 0;
};

/// Edges from the first clock of each collective to all its other clocks, most common collectives first.
std::vector<Pair> edges_of(const std::vector<ClockEnd>& ends) {
  std::unordered_map<std::uint64_t, std::uint32_t> common;
  for (std::size_t i = 0; i < ends.size();) {
    std::size_t behind = i + 1;
    for (; behind < ends.size() && ends[behind].instance == ends[i].instance; ++behind)
      ++common[std::uint64_t{ends[i].clock} << 32 | ends[behind].clock];
    i = behind;
  }
  std::vector<Pair> edges;
  for (const auto& [key, count] : common)
    edges.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), count});
  std::sort(edges.begin(), edges.end(), [](const Pair& a, const Pair& b) {
    return std::tie(b.common, a.parent, a.child) < std::tie(a.common, b.parent, b.child);
  });
  return edges;
}

class Forest {
 public:
  explicit Forest(std::size_t size) : root_(size) { std::iota(root_.begin(), root_.end(), 0u); }
  std::uint32_t root(std::uint32_t x) {
    while (root_[x] != x) x = root_[x] = root_[root_[x]];
    return x;
  }
  bool join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    if (a == b) return false;
    root_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<std::uint32_t> root_;
};

/// child reading = parent reading + shift + offset + drift (parent reading - origin).
struct Relation {
  Time origin = 0, shift = 0;
  double offset = 0, drift = 0;
};

struct Line {
  double offset = 0, slope = 0;
};

Line least_squares(const std::vector<double>& x, const std::vector<double>& y, const Line& near,
                   double most) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(y[i] - near.offset - near.slope * x[i]) > most) continue;
    n += 1, sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
  }
  const double spread = n * sxx - sx * sx;
  if (n < 2 || spread <= 0) return near;
  const double slope = (n * sxy - sx * sy) / spread;
  return {(sy - slope * sx) / n, slope};
}

/// The line with the least median distance among lines through random pairs of points at least a fifth of the
/// span apart (Rousseeuw's least median of squares: half of the points may be wrong). Then least squares on
/// the points near this line.
Line robust_line(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> rest(x.size());
  const auto fitted = [&](double slope) {
    for (std::size_t i = 0; i < x.size(); ++i) rest[i] = y[i] - slope * x[i];
    const double offset = upper_median(rest);
    for (double& r : rest) r = std::abs(r - offset);
    return std::pair(upper_median(rest), Line{offset, slope});
  };
  auto best = fitted(0);
  const auto [first, last] = std::minmax_element(x.begin(), x.end());
  const double span = *last - *first;
  if (x.size() < kMinForDrift || span < kMinSpan) return best.second;
  std::minstd_rand random(1);
  for (std::size_t i = 0; i < kPairs; ++i) {
    const std::size_t a = random() % x.size(), b = random() % x.size();
    if (std::abs(x[a] - x[b]) < span / 5) continue;
    const double slope = (y[a] - y[b]) / (x[a] - x[b]);
    if (std::abs(slope) > kMaxDrift) continue;
    if (const auto found = fitted(slope); found.first < best.first) best = found;
  }
  return least_squares(x, y, best.second, std::max(1.0, kOutlier * best.first));
}

/// Ends of each clock: {instance, end}, by instance.
using EndsOfClocks = std::vector<std::vector<std::pair<std::uint32_t, Time>>>;

Relation relate(const EndsOfClocks& ends, const Pair& edge) {
  std::vector<std::pair<Time, Time>> common;
  auto p = ends[edge.parent].begin();
  for (const auto& [instance, end] : ends[edge.child]) {
    while (p != ends[edge.parent].end() && p->first < instance) ++p;
    if (p != ends[edge.parent].end() && p->first == instance) common.emplace_back(p->second, end);
  }
  Relation relation;
  std::vector<Time> origins, shifts;
  for (const auto& [parent, child] : common) origins.push_back(parent), shifts.push_back(child - parent);
  const auto middle = [](std::vector<Time>& times) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), at, times.end());
    return *at;
  };
  relation.origin = middle(origins);
  relation.shift = middle(shifts);
  std::vector<double> x, y;
  for (const auto& [parent, child] : common) {
    x.push_back(static_cast<double>(parent - relation.origin));
    y.push_back(static_cast<double>(child - parent - relation.shift));
  }
  const Line line = robust_line(x, y);
  relation.offset = line.offset, relation.drift = line.slope;
  return relation;
}

/// The child's map: from its reading to the parent's by `r`, then to true time by the parent's map.
ClockMap through(const ClockMap& parent, const Relation& r, Time origin) {
  // At the child's c the parent reads p = c - r.shift - r.offset - r.drift (p - r.origin).
  const double pace = r.drift / (1 + r.drift);
  const Time at = r.origin + r.shift;  // the child's reading when p ≈ r.origin
  const double behind = r.offset / (1 + r.drift);
  // p(c) = c - shift - behind - pace (c - at);  T(p) = p - parent.shift - parent.offset - parent.drift (p -
  // parent.origin)
  ClockMap map{origin, r.shift + parent.shift, 0, pace + parent.drift - pace * parent.drift};
  const auto p_of_origin = static_cast<double>(origin - r.shift - parent.origin) - behind -
                           pace * static_cast<double>(origin - at);
  map.offset = behind + pace * static_cast<double>(origin - at) + parent.offset + parent.drift * p_of_origin;
  return map;
}

}  // namespace

std::vector<ClockFit> first_guess(const std::vector<ClockEnd>& ends, std::size_t clocks) {
  EndsOfClocks of_clock(clocks);
  for (const ClockEnd& end : ends) of_clock[end.clock].emplace_back(end.instance, end.end);
  std::vector<ClockFit> fits(clocks);
  for (std::size_t q = 0; q < clocks; ++q) {
    if (of_clock[q].empty()) continue;
    const Time first = of_clock[q].front().second;
    double sum = 0;
    for (const auto& [instance, end] : of_clock[q]) sum += static_cast<double>(end - first);
    fits[q].map.origin = first + std::llround(sum / static_cast<double>(of_clock[q].size()));
  }
  Forest forest(clocks);
  std::vector<std::vector<Pair>> tree(clocks);
  for (const Pair& edge : edges_of(ends)) {
    if (!forest.join(edge.parent, edge.child)) continue;
    tree[edge.parent].push_back(edge);
    tree[edge.child].push_back({edge.child, edge.parent, edge.common});
  }
  std::vector<bool> reached(clocks);
  std::uint32_t components = 0;
  for (std::uint32_t root = 0; root < clocks; ++root) {
    if (reached[root]) continue;
    reached[root] = true;
    std::vector<std::uint32_t> open{root};
    while (!open.empty()) {
      const std::uint32_t parent = open.back();
      open.pop_back();
      fits[parent].component = components;
      for (const Pair& edge : tree[parent]) {
        if (reached[edge.child]) continue;
        reached[edge.child] = true;
        fits[edge.child].map = through(fits[parent].map, relate(of_clock, edge), fits[edge.child].map.origin);
        open.push_back(edge.child);
      }
    }
    ++components;
  }
  return fits;
}

}  // namespace stepscope::derive
