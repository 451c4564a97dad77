// The median.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stepscope {

/// The middle value, or the mean of the two middle values; 0 if empty. Reorders `values`. O(n).
template <class T>
T median_of(std::vector<T>& values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 != 0 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Standard deviation / median absolute deviation, for normally distributed noise.
inline constexpr double kOfNormal = 1.4826;

}  // namespace stepscope
