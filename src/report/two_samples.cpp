#include "report/two_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stepscope::report {
namespace {

constexpr double kExactPairs = 10'000;

/// P(U = u) by u, for samples of sizes m and n. With probability n ÷ (m + n) the largest value is in the
/// second sample and exceeds all m of the first. Without that value, the problem is the same, one smaller.
std::vector<double> exact(std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> of(m + 1);  // by size of the first sample; the second grows from 0 to n
  for (std::vector<double>& row : of) row = {1.0};
  for (std::size_t j = 1; j <= n; ++j) {
    for (std::size_t i = 1; i <= m; ++i) {
      const double all = static_cast<double>(i + j);
      std::vector<double> next(i * j + 1, 0.0);
      const std::vector<double>&from_first = of[i - 1], &from_second = of[i];
      for (std::size_t u = 0; u < from_first.size(); ++u)
        next[u] += from_first[u] * static_cast<double>(i) / all;
      for (std::size_t u = 0; u < from_second.size(); ++u)
        next[u + i] += from_second[u] * static_cast<double>(j) / all;
      of[i] = std::move(next);
    }
  }
  return std::move(of[m]);
}

double normal_at_most(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

std::vector<double> differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> out;
  out.reserve(a.size() * b.size());
  for (const double x : a)
    for (const double y : b) out.push_back(y - x);
  std::sort(out.begin(), out.end());
  return out;
}

double middle_of(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0;
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

}  // namespace

MannWhitney::MannWhitney(std::size_t m, std::size_t n) : m_(m), n_(n) {
  if (static_cast<double>(m) * static_cast<double>(n) > kExactPairs) return;
  cumulated_ = exact(m, n);
  std::partial_sum(cumulated_.begin(), cumulated_.end(), cumulated_.begin());
}

double MannWhitney::at_most(double u) const {
  if (u < 0) return 0;
  if (!cumulated_.empty()) {
    const double last = static_cast<double>(cumulated_.size() - 1);
    return std::min(1.0, cumulated_[static_cast<std::size_t>(std::min(std::floor(u), last))]);
  }
  const auto m = static_cast<double>(m_), n = static_cast<double>(n_);
  return normal_at_most((std::floor(u) + 0.5 - m * n / 2) / std::sqrt(m * n * (m + n + 1) / 12));
}

std::size_t MannWhitney::bound_at(double alpha) const {
  std::size_t low = 0, high = m_ * n_ / 2 + 1;  // low fits, high does not
  while (high - low > 1) {
    const std::size_t k = low + (high - low) / 2;
    (2 * at_most(static_cast<double>(k) - 1) <= alpha ? low : high) = k;
  }
  return low;
}

Shift shift_of(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double alpha, double widening) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<double> sorted = differences(a, b);
  const std::size_t k = distribution.bound_at(alpha);
  Shift out{middle_of(sorted), -kInfinite, kInfinite};
  if (k == 0 || k > sorted.size()) return out;
  out.low = out.middle + (sorted[k - 1] - out.middle) * widening;
  out.high = out.middle + (sorted[sorted.size() - k] - out.middle) * widening;
  return out;
}

double p_value(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double shift, double widening) {
  const std::vector<double> sorted = differences(a, b);
  const double middle = middle_of(sorted), asked = middle + (shift - middle) / widening;
  const auto below = std::upper_bound(sorted.begin(), sorted.end(), asked) - sorted.begin();
  const auto above = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), asked);
  return std::min(1.0, 2 * distribution.at_most(static_cast<double>(std::min(below, above))));
}

double lag1_correlation(std::span<const double> a, std::span<const double> b) {
  double products = 0, squares = 0;
  for (const std::span<const double> series : {a, b}) {
    if (series.empty()) continue;
    const double mean =
        std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
      squares += (series[i] - mean) * (series[i] - mean);
      if (i > 0) products += (series[i] - mean) * (series[i - 1] - mean);
    }
  }
  return squares > 0 ? products / squares : 0;
}

double redundancy(double correlation) {
  return correlation > 0 ? (1 + correlation) / (1 - std::min(correlation, 0.999)) : 1;
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return p_values[x] < p_values[y]; });
  std::vector<double> out(p_values.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, p_values[order[i]] * static_cast<double>(order.size() - i));
    out[order[i]] = std::min(1.0, least);
  }
  return out;
}

}  // namespace stepscope::report
