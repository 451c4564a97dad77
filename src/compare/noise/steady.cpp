#include "compare/noise/steady.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"

namespace stepscope::compare {
namespace {

constexpr std::size_t kMinForWarmUp = 6;
constexpr double kAboveNoise = 3, kFarAboveNoise = 6, kPause = 1.2;
constexpr std::size_t kStepsPerPause = 10;

struct Middle {
  double median, deviation;  ///< the deviation as a standard deviation
};

/// The median absolute deviation of few values is too small on average; `3 ÷ n` corrects most of that.
Middle middle_of(std::span<const double> times) {
  std::vector<double> values(times.begin(), times.end());
  const double median = median_of(values);
  for (double& value : values) value = std::abs(value - median);
  return {median, kOfNormal * median_of(values) * (1 + 3 / static_cast<double>(times.size()))};
}

}  // namespace

std::size_t warming_up(std::span<const double> times) {
  const std::size_t half = times.size() / 2;
  if (times.size() < kMinForWarmUp) return 0;
  const Middle steady = middle_of(times.subspan(half));
  std::size_t slow = 0;
  while (slow < half && times[slow] > steady.median + kAboveNoise * steady.deviation) ++slow;
  return std::min(half, slow + slow / 2);
}

std::vector<std::size_t> slow_steps(std::span<const double> times) {
  std::vector<std::size_t> out;
  if (times.empty()) return out;
  const Middle all = middle_of(times);
  const double limit = std::max(all.median + kFarAboveNoise * all.deviation, kPause * all.median);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] > limit) out.push_back(i);
  return out;
}

Unsteady unsteady(const std::vector<std::vector<double>>& recordings) {
  Unsteady out;
  if (recordings.empty()) return out;
  std::size_t shortest = recordings.front().size();
  for (const std::vector<double>& times : recordings) {
    out.warm_up = std::max(out.warm_up, warming_up(times));
    shortest = std::min(shortest, times.size());
  }
  out.warm_up = std::min(out.warm_up, shortest / 2);
  bool rare = true;
  for (const std::vector<double>& times : recordings) {
    const std::span<const double> steady = std::span(times).subspan(out.warm_up);
    out.pauses.push_back(slow_steps(steady));
    rare &= out.pauses.back().size() * kStepsPerPause <= steady.size();
  }
  if (!rare) out.pauses.assign(recordings.size(), {});
  return out;
}

}  // namespace stepscope::compare
