// Decides limits by the intervals of their metrics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/change.h"
#include "compare/gate.h"
#include "report/units.h"

namespace stepscope::compare {
namespace {

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

/// Sentence with the number of steps per side that would decide, if the change stays where it is.
std::string more_steps(const Check& check) {
  const double distance = std::abs(check.means.change - scaled(check.limit.bound, check.limit));
  const std::size_t wanted = check.means.wanted(distance);
  if (wanted >= kMaxWantedSteps)
    return "It is so close to the limit that more steps will hardly decide; change the limit";
  return fmt::format("About {} {} per side would decide", wanted, check.samples_are);
}

/// The level of NEW alone.
std::string measure_level(const Measured& measured, Check& check) {
  check.change = check.now;
  check.means = level_of(measured.now, measured.samples, measured.base);
  check.low = check.change - check.means.margin();
  check.high = check.change + check.means.margin();
  check.p = check.means.p_value(check.limit.bound);
  if (check.means.known()) return "";
  return fmt::format("NEW has only {} {}, too few to know the noise; record {} or more.", check.samples_now,
                     check.samples_are, 2 * kMinSteps);
}

/// Why nothing can be concluded from the samples; "" if something can.
std::string measure(const Measured& measured, Check& check) {
  check.unit = measured.unit;
  check.samples_base = measured.base.size();
  check.samples_now = measured.now.size();
  check.samples_are = measured.samples == Samples::steps ? "steps" : "runs";
  check.low = -INFINITY;
  check.high = INFINITY;
  if (!measured.base.empty()) check.base = mean_of(measured.base);
  if (!measured.now.empty()) check.now = mean_of(measured.now);
  if (!measured.missing.empty()) return measured.missing;
  const RatioChange ratio = ratio_change(measured.base, measured.now, measured.samples);
  check.base = ratio.means.mean_a;
  check.now = ratio.means.mean_b;
  if (!check.limit.relative) return measure_level(measured, check);
  check.means = ratio.means;
  check.change = ratio.ratio - 1;
  if (check.base <= 0) return "BASE is not above 0, so there is no percentage; give an absolute limit.";
  if (!ratio.known())
    return fmt::format("{} and {} {}: {}; {}.", check.samples_base, check.samples_now, check.samples_are,
                       ratio.unknown(check.samples_are), ratio.advice(check.samples_are));
  check.low = ratio.low - 1;
  check.high = ratio.high - 1;
  check.p = ratio.means.p_value(std::log1p(check.limit.bound));
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
  const std::vector<double> corrected = holm(p_values);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    checks[i].corrected = corrected[i];
    if (checks[i].reason.empty()) settle(checks[i], allow_noise, checks.size());
  }
  return checks;
}

}  // namespace stepscope::compare
