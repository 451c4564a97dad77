// Which matrix products ran, how large, how fast and on which units; attention that is computed in parts.
#pragma once

#include <string>
#include <vector>

#include "analyze/derived.h"
#include "derive/work/dtype.h"

namespace stepscope::analyze {

/// Products of one operator, type and size. Unrecorded sizes are report::kNoInt, unknown reals
/// report::kNoReal. Times in ns.
struct Product {
  std::int64_t rank;
  std::string op;
  derive::DType dtype;
  std::int64_t batch, m, n, k, calls, time;
  double share;                                  ///< of the time of all compute kernels
  double flop_rate;                              ///< FLOP/s
  double share_of_roof;                          ///< min time that the device's peaks allow ÷ time
  double matrix_units, plain_cores, small_grid;  ///< shares of `time` in such kernels
  double waves;        ///< tiles of the longest kernel ÷ the device's multiprocessors
  std::string kernel;  ///< name of the longest kernel
};

/// Attention computed as product, softmax and product, with one size of the scores (report::kNoInt if not
/// recorded). Times in ns.
struct PartedAttention {
  std::int64_t rank, rows, columns, count;
  std::int64_t products, others;  ///< time of kernels of kind matrix, and of all others in the attention
  double share;                   ///< of the time of all compute kernels
};

struct Products {
  std::vector<Product> products;
  std::vector<PartedAttention> attention;
  std::vector<std::string> notes;
};
Products products_of(const Derived& derived);

}  // namespace stepscope::analyze
