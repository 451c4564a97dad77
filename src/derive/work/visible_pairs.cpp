#include "derive/work/visible_pairs.h"

#include <algorithm>

namespace stepscope::derive {
namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 40;

// Pairs (i, j) with j <= i + reach, i below `queries`, j below `keys`: the sum over i of
// clamp(i + reach + 1, 0, keys), which is 0, then rises by one per query, then stays at `keys`.
Amount pairs_up_to(std::int64_t queries, std::int64_t keys, std::int64_t reach) {
  const std::int64_t rise_begin = std::clamp<std::int64_t>(-reach, 0, queries);
  const std::int64_t rise_end = std::clamp<std::int64_t>(keys - reach - 1, rise_begin, queries);
  const Amount count = rise_end - rise_begin;
  const Amount first_and_last = Amount(rise_begin + reach + 1) + Amount(rise_end + reach);
  return count * first_and_last / 2 + Amount(queries - rise_end) * keys;
}

}  // namespace

Amount visible_pairs(std::int64_t queries, std::int64_t keys, Alignment alignment, std::int64_t left,
                     std::int64_t right) {
  if (queries < 0 || keys < 0 || queries > kMaxLength || keys > kMaxLength) return Amount::unknown();
  const std::int64_t offset = alignment == Alignment::bottom_right ? keys - queries : 0;
  // No window reaches further than every key from every query.
  const std::int64_t open = 2 * kMaxLength;
  const std::int64_t after = right < 0 ? open : std::min(right, open);
  const std::int64_t before = left < 0 ? open : std::min(left, open);
  return pairs_up_to(queries, keys, offset + after) - pairs_up_to(queries, keys, offset - before - 1);
}

}  // namespace stepscope::derive
