// By how much two samples differ, without assuming how they are distributed: the median of all pairwise
// differences (Hodges, Lehmann 1963) with the interval that the Mann-Whitney distribution gives it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepscope::report {

/// The distribution of U for two samples of sizes m and n from one population: the number of pairs in which
/// the second value is larger. Exact up to m·n = 10,000, else a normal approximation. Construction is
/// O((m·n)²).
class MannWhitney {
 public:
  MannWhitney(std::size_t m, std::size_t n);
  /// P(U ≤ u).
  double at_most(double u) const;
  /// The largest k with 2·P(U ≤ k − 1) ≤ alpha: the k-th smallest and k-th largest difference bound the
  /// interval of level 1 − alpha. 0: no k does, the samples are too small.
  std::size_t bound_at(double alpha) const;

 private:
  std::size_t m_, n_;
  std::vector<double> cumulated_;  ///< by u; empty: approximated
};

/// How far `b` lies above `a`.
struct Shift {
  double middle = 0;         ///< the median of all differences
  double low = 0, high = 0;  ///< interval of level 1 − alpha; infinite if the samples are too small
  bool bounded() const { return low > -1e300 && high < 1e300; }
  bool excludes(double value) const { return low > value || high < value; }
};

/// `widening` ≥ 1, √(n ÷ n_effective), stretches the interval about its middle. O(mn log mn).
Shift shift_of(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double alpha, double widening = 1);

/// The two-sided p-value of "b lies above a by `shift`", with the same widening.
double p_value(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double shift, double widening = 1);

/// Correlation of neighbouring values, both series pooled, each about its own mean; 0 if nothing varies.
double lag1_correlation(std::span<const double> a, std::span<const double> b);

/// (1 + ρ) ÷ (1 − ρ) for ρ > 0, else 1: how many neighbouring values are worth one independent value.
double redundancy(double correlation);

/// Holm's step-down correction for several tests: the adjusted p-values, in the order given.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace stepscope::report
