// By how much the mean of one sample differs from that of another, and how certain that is.
//
// Step times are a mean plus noise of which each value pulls the next along: an AR(1) process. Its
// correlation is not known, so the interval is that of the largest plausible one: the upper bound by the
// restricted likelihood (Chen, Deo: The restricted likelihood ratio test for autoregressive processes, J.
// Time Series Analysis 33, 2012), as Berger and Boos (P values maximized over a confidence set for the
// nuisance parameter, JASA 89, 1994) do. Given the correlation, the mean has Student's t distribution; the
// two sides join by Welch and Satterthwaite. A slope that only one side has widens the interval beyond that:
// then the change depends on when one looks. `bench/COMPARE.md` has the rates of false and of found changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope::compare {

/// Intervals are at the level 95 %.
inline constexpr double kAlpha = 0.05;
/// Steps per side: with fewer nothing is concluded.
inline constexpr std::size_t kMinSteps = 4;
/// No more steps than this are asked for.
inline constexpr std::size_t kMaxWantedSteps = 10'000;

/// 0 if there are no values.
double mean_of(std::span<const double> values);

enum class Samples : std::uint8_t {
  steps,  ///< neighbours may be alike
  runs,   ///< independent, equally spread on both sides
};

struct MeanChange {
  double mean_a = 0, mean_b = 0;
  double spread_a = 0, spread_b = 0;  ///< standard deviations
  double change = 0;                  ///< mean_b − mean_a; of a ratio, its logarithm
  double error = 0;                   ///< standard error of the change, for the largest plausible correlation
  double freedom = 0;                 ///< degrees of freedom of `error`; 0: the noise is not known
  double drift = 0;                   ///< added to both sides of the interval: A and B drift apart
  double correlation = 0;             ///< of neighbouring values, estimated
  double effective = 0;               ///< values that are independent, on the side that has fewer
  std::size_t values = 0;             ///< on the side that has fewer
  double noise = 0;                   ///< standard deviation of `change` if each side had one value

  bool known() const { return freedom > 0; }
  /// Half of the interval of level 1 − kAlpha; infinite if not known.
  double margin() const;
  /// The smallest change that is seen in 9 of 10 comparisons; infinite if not known.
  double seen() const;
  /// The p-value of "the change is `other`"; 1 if not known.
  double p_value(double other) const;
  /// Values per side that would show a change of `size` in 9 of 10 comparisons; kMaxWantedSteps if not even
  /// that many would.
  std::size_t wanted(double size) const;
};

MeanChange difference_of_means(std::span<const double> a, std::span<const double> b, Samples samples);

/// The change is ln(mean_b ÷ mean_a). Not known if a mean is not above 0.
MeanChange ratio_of_means(std::span<const double> a, std::span<const double> b, Samples samples);

/// The mean of one sample: `change` is mean_b. Runs in `alike` tell how much runs vary; steps have no use for
/// them.
MeanChange level_of(std::span<const double> values, Samples samples, std::span<const double> alike = {});

/// Holm's step-down correction for several tests: the adjusted p-values, in the order given.
std::vector<double> holm(std::span<const double> p_values);

}  // namespace stepscope::compare
