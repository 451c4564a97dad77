#include "derive/ranks/clock_bends.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.h"

namespace stepscope::derive {
namespace {

constexpr std::size_t kBlocks = 16, kMinBlocks = 4, kMinOfBlock = 5;
constexpr double kClear = 5;          // times the error of the mean of two blocks' medians
constexpr double kMinBend = 1'000;    // ns
constexpr double kBeyondBlock = 1.5;  // a bend at the edge of the outermost block, by that block's median
constexpr double kOfMedian = 1.2533;  // error of a median / error of a mean, for normally distributed noise

double bend_of(std::vector<std::pair<timeline::Time, double>>& readings) {
  const std::size_t blocks = std::min(kBlocks, readings.size() / kMinOfBlock);
  if (blocks < kMinBlocks) return 0;
  std::sort(readings.begin(), readings.end());
  std::vector<double> own, off, middles;
  for (std::size_t b = 0; b < blocks; ++b) {
    own.clear();
    for (std::size_t i = b * readings.size() / blocks; i < (b + 1) * readings.size() / blocks; ++i)
      own.push_back(readings[i].second);
    middles.push_back(median_of(own));
    for (const double residual : own) off.push_back(std::abs(residual - middles.back()));
  }
  double furthest = 0, of_two = 0;  // a bend spans neighbours, noise does not
  for (std::size_t b = 0; b < blocks; ++b) {
    furthest = std::max(furthest, std::abs(middles[b]));
    if (b > 0) of_two = std::max(of_two, std::abs(middles[b] + middles[b - 1]) / 2);
  }
  const double noise = kOfNormal * median_of(off);
  const double in_two = 2 * static_cast<double>(readings.size()) / static_cast<double>(blocks);
  return of_two > kMinBend + kClear * kOfMedian * noise / std::sqrt(in_two) ? kBeyondBlock * furthest : 0;
}

}  // namespace

std::vector<double> bends_of(const std::vector<ClockEnd>& ends, const std::vector<double>& residuals,
                             std::size_t clocks) {
  std::vector<std::vector<std::pair<timeline::Time, double>>> readings(clocks);
  for (std::size_t i = 0; i < ends.size(); ++i)
    readings[ends[i].clock].emplace_back(ends[i].end, residuals[i]);
  std::vector<double> bends;
  for (auto& of_clock : readings) bends.push_back(bend_of(of_clock));
  return bends;
}

}  // namespace stepscope::derive
