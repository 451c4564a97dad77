// Decides limits by the intervals of their metrics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/change.h"
#include "compare/gate.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

constexpr double kMaxWantedSteps = 10'000;  // more are not worth asking for

std::string text_of(double value, const Check& check) {
  if (check.limit.relative) return fmt::format("{:+.1f} %", 100 * value);
  return report::format_value(value, check.unit);
}

bool beyond(double value, const Limit& limit) {
  return limit.above ? value > limit.bound : value < limit.bound;
}

/// A value on the scale on which noise is judged: the logarithm of the ratio for percentages, else the level
/// itself.
double scaled(double value, const Limit& limit) { return limit.relative ? std::log1p(value) : value; }

/// Sentence with the number of steps per side that would decide, if the interval keeps its middle and its
/// width shrinks with the root of the steps.
std::string more_steps(const Check& check) {
  const double width = scaled(check.high, check.limit) - scaled(check.low, check.limit);
  const double distance =
      std::abs(scaled(check.change, check.limit) - scaled(check.limit.bound, check.limit));
  const double n = static_cast<double>(std::min(check.samples_base, check.samples_now));
  const double wanted = std::ceil(n * std::pow(width / (2 * distance), 2));
  if (!(wanted < kMaxWantedSteps))
    return "It is so close to the limit that more steps will hardly decide; change the limit";
  const auto steps = static_cast<std::int64_t>(std::max({wanted, n + 1, static_cast<double>(kEnoughSteps)}));
  return fmt::format("About {} steps per side would decide", steps);
}

/// The level of one sample: its median, with the order statistics that bound the median at 95 %.
void measure_level(const std::vector<double>& values, Check& check) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  check.change = check.now;
  double tail = std::pow(0.5, static_cast<double>(n)), all = 0;  // P(at most k values below the median)
  std::size_t k = 0;
  for (double chance = tail; k < n && 2 * (all + chance) <= kAlpha; ++k) {
    all += chance;
    chance *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  check.low = k == 0 ? -INFINITY : sorted[k - 1];
  check.high = k == 0 ? INFINITY : sorted[n - k];
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double v) { return v > check.limit.bound; });
  const auto fewer =
      static_cast<std::size_t>(std::min<std::ptrdiff_t>(above, static_cast<std::ptrdiff_t>(n) - above));
  double p = 0, chance = tail;
  for (std::size_t i = 0; i <= fewer; ++i) {
    p += chance;
    chance *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  check.p = std::min(1.0, 2 * p);
}

/// Why nothing can be concluded from the samples; "" if something can.
std::string measure(const Measured& measured, Check& check) {
  check.unit = measured.unit;
  check.samples_base = measured.base.size();
  check.samples_now = measured.now.size();
  check.low = -INFINITY;
  check.high = INFINITY;
  if (!measured.missing.empty()) return measured.missing;
  const RatioChange ratio = ratio_change(measured.base, measured.now);
  check.base = ratio.median_a;
  check.now = ratio.median_b;
  if (!check.limit.relative) {
    measure_level(measured.now, check);
    if (std::isfinite(check.low)) return "";
    return fmt::format("NEW has only {} steps, too few to know the noise; record {} or more.",
                       check.samples_now, kEnoughSteps);
  }
  check.change = ratio.ratio - 1;
  if (check.base <= 0) return "BASE is not above 0, so there is no percentage; give an absolute limit.";
  const std::size_t fewest = std::min(check.samples_base, check.samples_now);
  if (fewest < kMinSteps)
    return fmt::format("Only {} and {} steps, too few to know the noise; record {} or more on each side.",
                       check.samples_base, check.samples_now, kEnoughSteps);
  if (!ratio.known())
    return fmt::format(
        "Neighbouring steps are correlated: {} steps count as {:.1f} independent ones. Record {} or more.",
        fewest, ratio.effective,
        static_cast<std::int64_t>(std::ceil(static_cast<double>(kEnoughSteps * fewest) / ratio.effective)));
  check.low = ratio.low - 1;
  check.high = ratio.high - 1;
  check.p = ratio_p_value(measured.base, measured.now, 1 + check.limit.bound);
  return "";
}

void settle(Check& check, double allow_noise, std::size_t limits) {
  const Limit& limit = check.limit;
  const double near = limit.above ? check.low : check.high;  // the end that must be beyond for a regression
  const double far = limit.above ? check.high : check.low;   // the end that must not be for a pass
  const std::string interval =
      fmt::format("95 %: {} to {}", text_of(check.low, check), text_of(check.high, check));
  const double room = limit.relative ? allow_noise : allow_noise * std::abs(limit.bound);
  if (beyond(near, limit) && check.corrected < kAlpha) {
    check.outcome = Outcome::regression;
    check.reason = fmt::format("{} ({}), beyond the limit.", text_of(check.change, check), interval);
  } else if (!beyond(far, limit) && far != limit.bound) {
    check.outcome = Outcome::pass;
    check.reason = fmt::format("{} ({}), within the limit.", text_of(check.change, check), interval);
  } else if (!beyond(limit.above ? far - room : far + room, limit)) {
    check.outcome = Outcome::pass;
    check.reason = fmt::format("{} ({}), within the limit{}.", text_of(check.change, check), interval,
                               room > 0 ? " and the allowed noise" : "");
  } else if (beyond(near, limit)) {
    check.reason = fmt::format(
        "{} ({}) is beyond the limit if tested alone, but not as one of {} limits (corrected p = "
        "{:.2g}). Record more steps.",
        text_of(check.change, check), interval, limits, check.corrected);
  } else {
    check.reason = fmt::format("{} ({}): the interval spans the limit. {}.", text_of(check.change, check),
                               interval, more_steps(check));
  }
}

}  // namespace

std::vector<Check> decide(const std::vector<Limit>& limits, const std::vector<Measured>& measured,
                          double allow_noise) {
  std::vector<Check> checks;
  std::vector<double> p_values;
  for (std::size_t i = 0; i < limits.size(); ++i) {
    Check& check = checks.emplace_back();
    check.limit = limits[i];
    check.reason = measure(measured[i], check);
    p_values.push_back(check.p);
  }
  const std::vector<double> corrected = report::holm(p_values);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    checks[i].corrected = corrected[i];
    if (checks[i].reason.empty()) settle(checks[i], allow_noise, checks.size());
  }
  return checks;
}

}  // namespace stepscope::compare
