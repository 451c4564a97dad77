#include "compare/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stepscope::compare {
namespace {

constexpr double kMinOfRow = 0.02, kMinOfStep = 0.001, kMaxMarginOfRow = 0.5;

}  // namespace

std::string_view name_of(State state) {
  constexpr std::string_view kNames[] = {"within noise",           "changed",      "new", "gone", "moved",
                                         "implementation differs", "noise unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

double RatioChange::seen() const { return std::expm1(means.seen()); }

std::string RatioChange::advice(std::string_view samples) const {
  const std::size_t wanted = means.wanted(std::log1p(kNarrow));
  if (wanted >= kMaxWantedSteps)
    return fmt::format("even {} {} on each side would not show a change of {:.0f} %", kMaxWantedSteps,
                       samples, 100 * kNarrow);
  return fmt::format("record {} or more {} on each side", wanted, samples);
}

std::string RatioChange::unknown(std::string_view samples) const {
  if (known()) return "";
  const bool takes_time = means.mean_a > 0 && means.mean_b > 0;
  return takes_time ? fmt::format("too few {} to know the noise", samples) : "a side takes no time";
}

RatioChange ratio_change(std::span<const double> a, std::span<const double> b, Samples samples) {
  RatioChange out{a.size(), b.size(), ratio_of_means(a, b, samples)};
  const double margin = out.means.margin();
  out.ratio = std::exp(out.means.change);
  out.low = std::exp(out.means.change - margin);
  out.high = std::exp(out.means.change + margin);
  return out;
}

RowChange row_change(std::span<const double> a, std::span<const double> b, double step, bool is_time) {
  const MeanChange means = difference_of_means(a, b, Samples::steps);
  RowChange out{means.mean_a, means.mean_b, means.change - means.margin(), means.change + means.margin()};
  const double change = std::abs(out.change()), row = std::max(std::abs(out.a), std::abs(out.b));
  if (change <= kMinOfRow * row || (is_time && change <= kMinOfStep * step)) return out;
  out.state = out.low > 0 || out.high < 0              ? State::changed
              : means.margin() > kMaxMarginOfRow * row ? State::unknown_noise
                                                       : State::within_noise;
  return out;
}

}  // namespace stepscope::compare
