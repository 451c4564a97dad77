// How many (query, key) pairs an attention mask lets through, per batch and head.
#pragma once

#include "derive/work/amount.h"

namespace stepscope::derive {

/// Where query 0 stands among the keys when the lengths differ: at key 0, or so that the last query sees the
/// last key.
enum class Alignment { top_left, bottom_right };

/// `left`, `right`: keys visible before and after the query's own position; negative = open.
/// Causal is right = 0 with left open. Unknown for lengths above 2^40.
Amount visible_pairs(std::int64_t queries, std::int64_t keys, Alignment alignment, std::int64_t left,
                     std::int64_t right);

}  // namespace stepscope::derive
