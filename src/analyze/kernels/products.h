// Which matrix products ran, how large, how fast and on which units; attention that is computed in parts.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/work/dtype.h"

namespace stepscope::analyze {

/// Products of one operator, type and size. Sizes are report::kNoInt where they are not recorded, reals
/// report::kNoReal where they are not known; times in ns.
struct Product {
  std::int64_t rank;
  std::string op;
  derive::DType dtype;
  std::int64_t batch, m, n, k, calls, time;
  double share;                                  ///< of the time of all compute kernels
  double flop_rate;                              ///< FLOP/s
  double share_of_roof;                          ///< least time that the device's peaks allow ÷ time
  double matrix_units, plain_cores, small_grid;  ///< shares of `time`, by kernel
  double waves;        ///< rounds of the device's multiprocessors that tiles of the longest kernel fill
  std::string kernel;  ///< the longest
};

/// Attention as product, softmax and product, by the size of its scores: report::kNoInt where it is not
/// recorded. Times in ns.
struct PartedAttention {
  std::int64_t rank, rows, columns, count;
  std::int64_t products, others;  ///< time of kernels of kind matrix, and of all between them
  double share;                   ///< of the time of all compute kernels
};

struct Products {
  std::vector<Product> products;
  std::vector<PartedAttention> attention;
  std::vector<std::string> notes;
};
Products products_of(const Derived& derived);

}  // namespace stepscope::analyze
