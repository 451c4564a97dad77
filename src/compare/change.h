// How a number changed from one recording to the other, and whether the change is more than noise.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "report/two_samples.h"

namespace stepscope::compare {

/// Intervals are at the level 95 %.
inline constexpr double kAlpha = 0.05;
/// Independent steps per side: with fewer than the first nothing is concluded; the second is recommended.
inline constexpr std::size_t kMinSteps = 4, kEnoughSteps = 8;

/// 0 if there are no values.
double mean_of(std::span<const double> values);

enum class State : std::uint8_t {
  within_noise,  ///< no more than noise, or too little to matter
  changed,
  appeared,       ///< only in B
  gone,           ///< only in A
  moved,          ///< the same kernel, called from elsewhere
  other_way,      ///< the same place, done with other kernels
  unknown_noise,  ///< differs, but too few steps to say whether that is noise
};
/// "within noise", "changed", "new", "gone", "moved", "implementation differs", "noise unknown".
std::string_view name_of(State state);

/// How many times as large B is as A: two samples of positive numbers, compared by their logarithms.
struct RatioChange {
  std::size_t steps_a = 0, steps_b = 0;
  double median_a = 0, median_b = 0;
  double spread_a = 0, spread_b = 0;    ///< median absolute deviation from the median
  double ratio = 1, low = 0, high = 0;  ///< factors; `high` is infinite when there are too few steps
  double correlation = 0;               ///< of neighbouring steps
  double effective = 0;                 ///< independent steps on the side that has fewer
  bool known() const { return effective >= static_cast<double>(kMinSteps) && high < 1e300; }
  bool changed() const { return known() && (low > 1 || high < 1); }
};
RatioChange ratio_change(std::span<const double> a, std::span<const double> b);

/// The p-value of "B is `factor` times A".
double ratio_p_value(std::span<const double> a, std::span<const double> b, double factor);

/// Judges differences of rows with given numbers of samples per side.
class RowJudge {
 public:
  /// `step`: length of a step, ns; changes of times under 0.1 % of it do not matter.
  RowJudge(std::size_t samples_a, std::size_t samples_b, double step);

  struct Verdict {
    double a = 0, b = 0;  ///< means
    report::Shift shift;  ///< how far b lies above a; bounded() is false with too few samples
    State state = State::within_noise;
    double change() const { return b - a; }
  };
  /// Changed: the change is over 2 % of the row, for times also over 0.1 % of the step, and its interval
  /// excludes 0.
  Verdict judge(std::span<const double> a, std::span<const double> b, bool is_time = true) const;

 private:
  report::MannWhitney distribution_;
  bool enough_;
  double step_;
};

}  // namespace stepscope::compare
