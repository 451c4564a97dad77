#include "report/text/bar.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stepscope::report {

std::string repeated(std::string_view piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

std::string bar(double fraction, int cells) {
  constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(fraction > 0) || cells < 1) return "";
  const int eighths =
      std::clamp(static_cast<int>(std::lround(std::min(fraction, 1.0) * cells * 8)), 1, cells * 8);
  return repeated("█", eighths / 8) + std::string(kEighths[eighths % 8]);
}

std::vector<int> cells_per_part(const std::vector<double>& parts, double whole, int cells) {
  std::vector<int> given(parts.size(), 0);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  if (!(whole > 0) || !(sum > 0) || !std::isfinite(sum / whole) || cells < 1) return given;
  int left = static_cast<int>(std::lround(std::min(1.0, sum / whole) * cells));
  std::vector<std::size_t> order(parts.size());
  std::vector<double> rest(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = parts[i] / whole * cells;
    given[i] = std::min(left, static_cast<int>(exact));
    left -= given[i];
    rest[i] = exact - given[i] + (given[i] == 0 && exact > 0 ? 1 : 0);
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rest[a] > rest[b]; });
  for (const std::size_t i : order) {
    if (left == 0 || rest[i] <= 0) break;
    ++given[i];
    --left;
  }
  return given;
}

}  // namespace stepscope::report
