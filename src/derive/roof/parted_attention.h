// Attention computed in parts: a product, a softmax over its scores, and a product with the result.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace stepscope::derive {

struct PartedAttention {
  trace::Row first = 0, end = 0;       ///< host rows from the first product to after the second
  std::int64_t rows = 0, columns = 0;  ///< last two sizes of the scores; 0: not recorded
};

/// Found by rows: among operators directly below one range, a product at most 8 before a softmax and another
/// at most 8 after it. Sorted by `first`.
std::vector<PartedAttention> parted_attention(const trace::Trace& trace, const trace::Rank& rank);

}  // namespace stepscope::derive
