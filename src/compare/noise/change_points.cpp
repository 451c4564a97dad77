#include "compare/noise/change_points.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compare/noise/mean_change.h"

namespace stepscope::compare {
namespace {

constexpr std::size_t kMinPart = 2;
constexpr int kOrders = 999;
constexpr std::uint64_t kSeed = 20211;  // the same series always has the same answer

struct Split {
  std::size_t at = 0;
  double size = 0;  ///< difference of the means × √(n_left · n_right ÷ n)
};

Split largest_split(std::span<const double> values) {
  Split best;
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double sum = 0;  // of the left part, about the mean of all
  for (std::size_t left = 1; left + kMinPart <= values.size(); ++left) {
    sum += values[left - 1] - mean;
    const auto l = static_cast<double>(left);
    const double size = std::abs(sum) * std::sqrt(n / (l * (n - l)));
    if (left >= kMinPart && size > best.size) best = {left, size};
  }
  return best;
}

void split(std::span<const double> values, std::size_t first, std::mt19937_64& random,
           std::vector<std::size_t>& out) {
  if (values.size() < 2 * kMinPart) return;
  const Split found = largest_split(values);
  if (found.at == 0) return;
  std::vector<double> order(values.begin(), values.end());
  int as_large = 1;
  for (int i = 0; i < kOrders; ++i) {
    for (std::size_t last = order.size() - 1; last > 0; --last)
      std::swap(order[last], order[random() % (last + 1)]);
    as_large += largest_split(order).size >= found.size * (1 - 1e-12) ? 1 : 0;
  }
  if (as_large > kAlpha * (kOrders + 1)) return;
  split(values.first(found.at), first, random, out);
  out.push_back(first + found.at);
  split(values.subspan(found.at), first + found.at, random, out);
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values) {
  std::vector<std::size_t> out;
  std::mt19937_64 random(kSeed);
  split(values, 0, random, out);
  return out;
}

}  // namespace stepscope::compare
