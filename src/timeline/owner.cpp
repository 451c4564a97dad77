#include "timeline/owner.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <vector>

namespace stepscope::timeline {

Column<Owned> owned_by(std::span<const Claim> claims) {
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return claims[a].span.begin < claims[b].span.begin; });
  const auto loses = [&](std::size_t a, std::size_t b) {  // positions in `order`, which is by begin
    const int x = claims[order[a]].priority, y = claims[order[b]].priority;
    return x != y ? x < y : a < b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(loses)> open(loses);
  Column<Owned> out;
  Time at = std::numeric_limits<Time>::min();
  const auto advance = [&](Time to) {
    while (!open.empty() && at < to) {
      const std::size_t claim = order[open.top()];
      const Interval piece{at, std::min(to, claims[claim].span.end)};
      if (piece.length() > 0) {
        if (!out.empty() && out.back().claim == claim && out.back().span.end == piece.begin)
          out.back().span.end = piece.end;
        else
          out.push_back({piece, claim});
        at = piece.end;
      }
      if (claims[claim].span.end <= at) open.pop();
    }
    at = to;
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Interval span = claims[order[i]].span;
    if (span.length() == 0) continue;
    if (span.begin > at) advance(span.begin);
    open.push(i);
  }
  advance(std::numeric_limits<Time>::max());
  return out;
}

}  // namespace stepscope::timeline
