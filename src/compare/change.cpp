#include "compare/change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/median.h"

namespace stepscope::compare {
namespace {

constexpr std::size_t kMaxSamples = 1000;  // per side; more are averaged in groups of neighbours
constexpr double kMinOfRow = 0.02, kMinOfStep = 0.001;

std::vector<double> logarithms(std::span<const double> values) {
  std::vector<double> out;
  const std::size_t n = values.size(), groups = std::min(n, kMaxSamples);
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t from = g * n / groups, to = (g + 1) * n / groups;
    out.push_back(std::log(std::max(1e-9, mean_of(values.subspan(from, to - from)))));
  }
  return out;
}

double median(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return median_of(copy);
}

double deviation(std::span<const double> values, double middle) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return median_of(distances);
}

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string_view name_of(State state) {
  constexpr std::string_view kNames[] = {"within noise",           "changed",      "new", "gone", "moved",
                                         "implementation differs", "noise unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

RatioChange ratio_change(std::span<const double> a, std::span<const double> b) {
  RatioChange out;
  out.steps_a = a.size();
  out.steps_b = b.size();
  out.median_a = median(a);
  out.median_b = median(b);
  out.spread_a = deviation(a, out.median_a);
  out.spread_b = deviation(b, out.median_b);
  out.high = std::numeric_limits<double>::infinity();
  if (a.empty() || b.empty()) return out;
  const std::vector<double> x = logarithms(a), y = logarithms(b);
  out.correlation = report::lag1_correlation(x, y);
  const double redundancy = report::redundancy(out.correlation);
  out.effective = static_cast<double>(std::min(a.size(), b.size())) / redundancy;
  const report::Shift shift =
      report::shift_of(x, y, report::MannWhitney(x.size(), y.size()), kAlpha, std::sqrt(redundancy));
  out.ratio = std::exp(shift.middle);
  out.low = std::exp(shift.low);
  out.high = std::exp(shift.high);
  return out;
}

double ratio_p_value(std::span<const double> a, std::span<const double> b, double factor) {
  if (a.empty() || b.empty() || !(factor > 0)) return 1;
  const std::vector<double> x = logarithms(a), y = logarithms(b);
  const double widening = std::sqrt(report::redundancy(report::lag1_correlation(x, y)));
  return report::p_value(x, y, report::MannWhitney(x.size(), y.size()), std::log(factor), widening);
}

RowJudge::RowJudge(std::size_t samples_a, std::size_t samples_b, double step)
    : distribution_(samples_a, samples_b),
      enough_(std::min(samples_a, samples_b) >= kMinSteps),
      step_(step) {}

RowJudge::Verdict RowJudge::judge(std::span<const double> a, std::span<const double> b, bool is_time) const {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Verdict out{mean_of(a), mean_of(b), {0, -kInfinite, kInfinite}};
  const double change = std::abs(out.change());
  const bool matters = change > kMinOfRow * std::max(std::abs(out.a), std::abs(out.b)) &&
                       (!is_time || change > kMinOfStep * step_);
  if (enough_ && !a.empty() && !b.empty()) {
    const double widening = std::sqrt(report::redundancy(report::lag1_correlation(a, b)));
    out.shift = report::shift_of(a, b, distribution_, kAlpha, widening);
  }
  if (!matters) return out;
  out.state = !out.shift.bounded()    ? State::unknown_noise
              : out.shift.excludes(0) ? State::changed
                                      : State::within_noise;
  return out;
}

}  // namespace stepscope::compare
