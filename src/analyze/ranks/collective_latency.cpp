#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyze/ranks/collective_sizes.h"
#include "base/median.h"
#include "derive/ranks/collective.h"

namespace stepscope::analyze {
namespace {

using report::kNoInt;
using report::Role;
using report::Unit;
using timeline::Time;

constexpr std::size_t kMinSizes = 4;
constexpr double kMinRange = 16;         // largest size / smallest size
constexpr std::size_t kMaxPoints = 512;  // of a line: the time grows with their square

struct Point {
  double x, time;  ///< bytes on each link; ns
};

struct Line {
  double latency, slope;  ///< ns, ns per byte
  double error;           ///< median over points: distance from the line / time
};

/// The slope is the median of the slopes of all pairs of points, the latency the median of the residuals
/// (Theil and Sen).
Line line_through(const std::vector<Point>& points) {
  std::vector<double> slopes, rest, errors;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      slopes.push_back((points[i].time - points[j].time) / (points[i].x - points[j].x));
  Line line{0, median_of(slopes), 0};
  for (const Point& p : points) rest.push_back(p.time - line.slope * p.x);
  line.latency = median_of(rest);
  for (const Point& p : points) errors.push_back(std::abs(p.time - line.latency - line.slope * p.x) / p.time);
  line.error = median_of(errors);
  return line;
}

struct Family {
  std::map<std::int64_t, std::vector<double>> transfers;  ///< by bytes, ns
  std::int64_t count = 0;
};

/// By size, ascending; at most kMaxPoints, evenly chosen.
std::vector<Point> points_of(Family& family, double factor) {
  std::vector<Point> all, points;
  for (auto& [bytes, transfers] : family.transfers)
    all.push_back({static_cast<double>(bytes) * factor, median_of(transfers)});
  const std::size_t every = (all.size() + kMaxPoints - 1) / kMaxPoints;
  for (std::size_t i = 0; i < all.size(); i += every) points.push_back(all[i]);
  return points;
}

}  // namespace

std::vector<LinkLine> link_lines(const std::vector<MatchedCollective>& collectives) {
  std::map<std::tuple<derive::Exchange, std::int64_t, Span>, Family> families;
  for (const MatchedCollective& c : collectives) {
    if (c.bytes <= 0 || c.time.transfer == trace::kNoTime || c.time.transfer <= 0) continue;
    Family& family = families[{c.exchange, c.ranks, c.span}];
    family.transfers[c.bytes].push_back(static_cast<double>(c.time.transfer));
    ++family.count;
  }
  std::vector<LinkLine> lines;
  for (auto& [key, family] : families) {
    const auto& [exchange, group, span] = key;
    const auto factor = derive::bus_factor(exchange, group);
    if (!factor || family.transfers.size() < kMinSizes ||
        static_cast<double>(family.transfers.rbegin()->first) <
            kMinRange * static_cast<double>(family.transfers.begin()->first))
      continue;
    const Line line = line_through(points_of(family, *factor));
    if (line.slope <= 0) continue;
    lines.push_back({exchange, group, span, std::ssize(family.transfers), family.count,
                     line.latency >= 0 ? std::llround(line.latency) : kNoInt, 1e9 / line.slope, line.error});
  }
  return lines;
}

const report::Sheet<LinkLine> kLinkSheet{"Latency and rate of links",
                                         report::Shape::table,
                                         {{"collective", report::named<&LinkLine::exchange>},
                                          {"group_size", &LinkLine::group_size, Unit::count, Role::key},
                                          {"span", report::named<&LinkLine::span>},
                                          {"sizes", &LinkLine::sizes, Unit::count},
                                          {"count", &LinkLine::count, Unit::count},
                                          {"latency", &LinkLine::latency, Unit::ns},
                                          {"bus_rate", &LinkLine::bus_rate, Unit::bytes_per_s},
                                          {"off_p50", &LinkLine::off_p50, Unit::share}}};

}  // namespace stepscope::analyze
