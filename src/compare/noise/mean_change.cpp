#include "compare/noise/mean_change.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "compare/noise/student_t.h"

namespace stepscope::compare {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Correlations tried. Those beyond the last are taken for it.
constexpr double kFirstTried = -0.95, kLastTried = 0.97, kTriedStep = 0.01;
// Upper bound of the correlation: its signed root of the likelihood ratio. With 1.2, 88 % one-sided, the
// rates in bench/COMPARE.md hold.
constexpr double kBound = 1.2;
// How much a slope that only one side has widens the interval: by this × (z² − 1) standard errors of the
// change, for a slope of z standard errors.
constexpr double kDriftWidth = 0.7;
constexpr double kFoundIn = 0.9;  // of comparisons

/// ρ-dependent facts of n neighbouring values: variance of their mean ÷ variance of one.
double variance_of_mean(double n, double rho) {
  const double rest = 1 - rho;
  return ((1 + rho) / rest - 2 * rho * (1 - std::pow(rho, n)) / (n * rest * rest)) / n;
}

/// One sample, reduced to the sums that its likelihood needs.
class Series {
 public:
  explicit Series(std::span<const double> values) : n_(static_cast<double>(values.size())) {
    mean_ = mean_of(values);
    double times = 0, products = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = values[i] - mean_, at = static_cast<double>(i) - (n_ - 1) / 2;
      const bool end = i == 0 || i + 1 == values.size();
      squares_ += x * x;
      (end ? ends_ : inner_) += x;
      if (!end) inner_squares_ += x * x;
      if (i > 0) neighbours_ += x * (values[i - 1] - mean_);
      times += at * at;
      products += at * x;
    }
    if (times > 0) rise_ = n_ * products / times;
  }

  double n() const { return n_; }
  double mean() const { return mean_; }
  double squares() const { return squares_; }
  double spread() const { return n_ > 1 ? std::sqrt(squares_ / (n_ - 1)) : 0; }
  double rise() const { return rise_; }  ///< of the line fitted, from begin to end
  bool varies() const { return n_ > 2 && std::sqrt(squares_ / n_) > 1e-12 * std::abs(mean_); }

  /// Restricted log-likelihood of a correlation, up to a constant.
  double likelihood(double rho) const {
    return (std::log1p(rho) - std::log(n_ - (n_ - 2) * rho)) / 2 -
           (n_ - 1) / 2 * std::log(residual_squares(rho));
  }
  /// Standard error of the mean, given the correlation.
  double error(double rho) const {
    if (!varies()) return 0;
    const double variance = residual_squares(rho) / (n_ - 1) / (1 - rho * rho);
    return std::sqrt(variance * variance_of_mean(n_, rho));
  }

 private:
  /// Sum of the squares of the innovations about the mean that fits best.
  double residual_squares(double rho) const {
    const double all = squares_ + rho * rho * inner_squares_ - 2 * rho * neighbours_;
    const double sum = (1 - rho) * (ends_ + (1 - rho) * inner_);
    const double weight = (1 - rho) * (n_ - (n_ - 2) * rho);
    return std::max(all - sum * sum / weight, std::numeric_limits<double>::min());
  }

  double n_, mean_ = 0, squares_ = 0, inner_squares_ = 0, neighbours_ = 0, ends_ = 0, inner_ = 0, rise_ = 0;
};

/// A correlation that both sides share, and the largest that is plausible, not below 0.
struct Correlation {
  double likely = 0, bound = 0;
};

Correlation correlation_of(const Series& a, const Series& b) {
  const auto likelihood = [&](double rho) {
    return (a.varies() ? a.likelihood(rho) : 0) + (b.varies() ? b.likelihood(rho) : 0);
  };
  Correlation out;
  if (!a.varies() && !b.varies()) return out;
  double best = -kInfinite;
  for (double rho = kFirstTried; rho <= kLastTried; rho += kTriedStep)
    if (const double here = likelihood(rho); here > best) {
      best = here;
      out.likely = rho;
    }
  out.bound = out.likely;
  while (out.bound < kLastTried && 2 * (best - likelihood(out.bound)) <= kBound * kBound)
    out.bound += kTriedStep;
  out.bound = std::clamp(out.bound, 0.0, kLastTried);
  return out;
}

/// √(n ÷ independent values) for long samples.
double redundancy(double rho) { return rho > 0 ? (1 + rho) / (1 - rho) : 1; }

/// Welch's degrees of freedom of a sum of two errors.
double joint_freedom(double error_a, double freedom_a, double error_b, double freedom_b) {
  const double a = error_a * error_a, b = error_b * error_b;
  if (a + b <= 0) return std::max(freedom_a, freedom_b);
  return (a + b) * (a + b) / ((a > 0 ? a * a / freedom_a : 0) + (b > 0 ? b * b / freedom_b : 0));
}

/// Two samples on a common scale: each side's numbers are multiplied by its factor.
struct Join {
  const Series &a, &b;
  double scale_a, scale_b;

  MeanChange steps() const {
    MeanChange out = start();
    const Correlation rho = correlation_of(a, b);
    out.correlation = rho.likely;
    out.effective = static_cast<double>(out.values) / redundancy(rho.likely);
    out.noise = std::hypot(scale_a * a.spread(), scale_b * b.spread());
    if (out.values < kMinSteps) return out;
    const double error_a = scale_a > 0 ? scale_a * a.error(rho.bound) : 0,
                 error_b = scale_b * b.error(rho.bound);
    out.error = std::hypot(error_a, error_b);
    out.freedom = joint_freedom(error_a, a.n() - 1, error_b, b.n() - 1);
    // The slope of the fitted line has √12 times the error of the mean, per length of the recording.
    const double apart = (scale_b * b.rise() - scale_a * a.rise()) / std::sqrt(12);
    if (out.error > 0) out.drift = kDriftWidth * std::max(0.0, apart * apart / out.error - out.error);
    return out;
  }

  MeanChange runs() const {
    MeanChange out = start();
    out.effective = static_cast<double>(out.values);
    const auto freedom_of = [](const Series& of) { return std::max(0.0, of.n() - 1); };
    const double freedom = freedom_of(a) + freedom_of(b);
    if (freedom < static_cast<double>(kMinSteps) - 1 || b.n() == 0) return out;
    const double variance = (scale_a * scale_a * a.squares() + scale_b * scale_b * b.squares()) / freedom;
    out.noise = std::sqrt(2 * variance);
    out.error = std::sqrt(variance * ((a.n() > 0 ? 1 / a.n() : 0) + 1 / b.n()));
    out.freedom = freedom;
    return out;
  }

 private:
  MeanChange start() const {
    MeanChange out;
    out.mean_a = a.mean();
    out.mean_b = b.mean();
    out.spread_a = a.spread();
    out.spread_b = b.spread();
    out.change = scale_a > 0 ? b.mean() - a.mean() : b.mean();
    out.values = static_cast<std::size_t>(scale_a > 0 ? std::min(a.n(), b.n()) : b.n());
    return out;
  }
};

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double MeanChange::margin() const {
  return known() ? t_critical(kAlpha, freedom) * error + drift : kInfinite;
}

double MeanChange::seen() const {
  return known() ? margin() + t_critical(2 * (1 - kFoundIn), freedom) * error : kInfinite;
}

double MeanChange::p_value(double other) const {
  if (!known()) return 1;
  const double distance = std::max(0.0, std::abs(change - other) - drift);
  if (error <= 0) return distance > 0 ? 0 : 1;
  return t_beyond(distance / error, freedom);
}

std::size_t MeanChange::wanted(double size) const {
  constexpr double kGrowth = 1.1;
  const double likely = std::clamp(correlation, 0.0, kLastTried);
  for (auto n = static_cast<double>(std::max(values + 1, 2 * kMinSteps));
       n < static_cast<double>(kMaxWantedSteps); n = std::ceil(n * kGrowth)) {
    const double bound = std::min(kLastTried, likely + kBound * std::sqrt((1 - likely * likely) / (2 * n)));
    const double freedom_then = 2 * (n - 1), error_then = noise * std::sqrt(variance_of_mean(n, bound));
    if ((t_critical(kAlpha, freedom_then) + t_critical(2 * (1 - kFoundIn), freedom_then)) * error_then <=
        size)
      return static_cast<std::size_t>(n);
  }
  return kMaxWantedSteps;
}

MeanChange difference_of_means(std::span<const double> a, std::span<const double> b, Samples samples) {
  const Series of_a(a), of_b(b);
  const Join join{of_a, of_b, 1, 1};
  return samples == Samples::steps ? join.steps() : join.runs();
}

MeanChange ratio_of_means(std::span<const double> a, std::span<const double> b, Samples samples) {
  const Series of_a(a), of_b(b);
  const bool positive = of_a.mean() > 0 && of_b.mean() > 0;
  const Join join{of_a, of_b, positive ? 1 / of_a.mean() : 1, positive ? 1 / of_b.mean() : 1};
  MeanChange out = samples == Samples::steps ? join.steps() : join.runs();
  out.change = positive ? std::log(out.mean_b / out.mean_a) : 0;
  if (!positive) out.freedom = 0;
  return out;
}

MeanChange level_of(std::span<const double> values, Samples samples, std::span<const double> alike) {
  const Series none{{}}, of(values), others(alike);
  if (samples == Samples::steps) return Join{none, of, 0, 1}.steps();
  MeanChange out = Join{others, of, 1, 1}.runs();
  if (others.n() > 0) out.error *= std::sqrt(others.n() / (others.n() + of.n()));  // that of `values` alone
  out.change = out.mean_b;
  return out;
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

}  // namespace stepscope::compare
