// By how much two samples differ, without assuming how they are distributed: the median of all pairwise
// differences (Hodges, Lehmann 1963) with the interval that the Mann-Whitney distribution gives it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepscope::report {

/// Of two samples of sizes m and n from one distribution: U is the number of pairs in which the second is the
/// larger. Exact up to m·n = 10,000, a normal approximation beyond. O((m·n)²) once, small numbers apart.
class MannWhitney {
 public:
  MannWhitney(std::size_t m, std::size_t n);
  /// P(U ≤ u).
  double at_most(double u) const;
  /// The largest k with 2·P(U ≤ k − 1) ≤ alpha: the k-th smallest and k-th largest difference bound the
  /// interval of level 1 − alpha. 0: no pair does, the samples are too small.
  std::size_t bound_at(double alpha) const;

 private:
  std::size_t m_, n_;
  std::vector<double> cumulated_;  ///< by u; empty: approximated
};

/// How far `b` lies above `a`.
struct Shift {
  double middle = 0;         ///< the median of all differences
  double low = 0, high = 0;  ///< of level 1 − alpha; infinite when the samples are too small for it
  bool bounded() const { return low > -1e300 && high < 1e300; }
  bool excludes(double value) const { return low > value || high < value; }
};

/// `widening` ≥ 1 stretches the interval about its middle: the root of n ÷ n_effective. O(mn log mn).
Shift shift_of(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double alpha, double widening = 1);

/// The two-sided p-value of "b lies above a by `shift`", with the same widening.
double p_value(std::span<const double> a, std::span<const double> b, const MannWhitney& distribution,
               double shift, double widening = 1);

/// Correlation of neighbours, about the mean of each series, both series together; 0 when nothing varies.
double lag1_correlation(std::span<const double> a, std::span<const double> b);

/// (1 + ρ) ÷ (1 − ρ) for ρ > 0, else 1: how many neighbours together tell as much as one independent value.
double redundancy(double correlation);

/// Holm's step-down correction: p-values, in the order given, as if each had been asked alone.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace stepscope::report
