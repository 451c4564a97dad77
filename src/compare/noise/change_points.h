// Where the mean of a series changes.
//
// Binary segmentation (Vostrikova 1981): the split whose means differ most, relative to chance, then the same
// in both parts. A split counts if fewer than 5 % of random orders of the series have one as large: a
// permutation test, as Matteson and James (A nonparametric approach for multiple change point analysis, JASA
// 109, 2014) use it. So a series without a change has a change point in at most 5 % of cases, whatever the
// distribution of its values, as long as they are independent.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stepscope::compare {

/// Indices at which a new mean begins, in order. Each part has 2 values or more. O(n² · orders).
std::vector<std::size_t> change_points(std::span<const double> values);

}  // namespace stepscope::compare
