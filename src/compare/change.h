// How a number changed from one recording to the other, and whether the change is more than noise. This is
// the one place that defines a change: the ratio of the means of the counted steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/noise/mean_change.h"

namespace stepscope::compare {

/// "As fast as" is said only if a change of this size would have been seen.
inline constexpr double kNarrow = 0.05;

enum class State : std::uint8_t {
  within_noise,  ///< no more than noise, or too little to matter
  changed,
  appeared,       ///< only in B
  gone,           ///< only in A
  moved,          ///< the same kernel, called from elsewhere
  other_way,      ///< the same place, done with other kernels
  unknown_noise,  ///< differs, but the steps are too few or too unsteady to say whether that is noise
};
/// "within noise", "changed", "new", "gone", "moved", "implementation differs", "noise unknown".
std::string_view name_of(State state);

/// How many times as large B is as A.
struct RatioChange {
  std::size_t steps_a = 0, steps_b = 0;
  MeanChange means;                     ///< the change is a logarithm
  double ratio = 1, low = 0, high = 0;  ///< factors; `high` is infinite if the noise is not known
  bool known() const { return means.known(); }
  bool changed() const { return known() && (low > 1 || high < 1); }
  /// Shares: the smallest growth that would have been seen in 9 of 10 comparisons; infinite if not known.
  double seen() const;
  bool narrow() const { return seen() <= kNarrow; }
  /// "record 40 or more steps on each side": so that a growth of kNarrow is seen.
  std::string advice(std::string_view samples = "steps") const;
  /// A clause: why the noise is not known; "" if it is.
  std::string unknown(std::string_view samples = "steps") const;
};
RatioChange ratio_change(std::span<const double> a, std::span<const double> b,
                         Samples samples = Samples::steps);

/// How the time or number of a row changed.
struct RowChange {
  double a = 0, b = 0;       ///< means
  double low = 0, high = 0;  ///< interval of b − a; infinite if the noise is not known
  State state = State::within_noise;
  double change() const { return b - a; }
};
/// Changed: the change is over 2 % of the row, for times also over 0.1 % of `step` (ns), and its interval
/// excludes 0. Its noise is unknown if the interval would hide half of the row.
RowChange row_change(std::span<const double> a, std::span<const double> b, double step, bool is_time = true);

}  // namespace stepscope::compare
