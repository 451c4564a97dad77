#include "compare/noise/student_t.h"

#include <algorithm>
#include <cmath>

namespace stepscope::compare {
namespace {

/// Keeps a divisor away from 0.
double apart(double value) { return std::abs(value) < 1e-300 ? 1e-300 : value; }

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
double fraction(double a, double b, double x) {
  constexpr int kMaxTerms = 10'000;
  constexpr double kPrecise = 1e-13;
  double c = 1, d = 1 / apart(1 - (a + b) * x / (a + 1)), out = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / apart(1 + even * d);
    c = apart(1 + even / c);
    out *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / apart(1 + odd * d);
    c = apart(1 + odd / c);
    out *= d * c;
    if (std::abs(d * c - 1) < kPrecise) break;
  }
  return out;
}

/// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a : 1 - front * fraction(b, a, 1 - x) / b;
}

}  // namespace

double t_beyond(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double t_critical(double alpha, double freedom) {
  double low = 0, high = 1;
  while (t_beyond(high, freedom) > alpha && high < 1e12) high *= 2;
  while (high - low > 1e-10 * high) {
    const double t = (low + high) / 2;
    (t_beyond(t, freedom) > alpha ? low : high) = t;
  }
  return high;
}

}  // namespace stepscope::compare
