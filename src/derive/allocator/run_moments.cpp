#include "derive/allocator/run_moments.h"

#include <algorithm>
#include <iterator>

#include "derive/innermost.h"

namespace stepscope::derive {
namespace {

using trace::Kind;
using trace::kNoRow;
using trace::Row;

Row outermost_op(const trace::EventTable& events, Row from) {
  constexpr int kDeepest = 1'000;
  Row op = kNoRow;
  int depth = 0;
  for (Row row = from; row != kNoRow && depth < kDeepest; row = events.parent[row], ++depth)
    if (events.kind[row] == Kind::op) op = row;
  return op;
}

}  // namespace

bool RunMoments::overlap(const trace::MemoryOfDevice& device) const {
  const Column<std::int64_t>& time = device.events.time;
  if (rank_.first_start == trace::kNoTime || time.empty() || time.front() == trace::kNoTime) return false;
  return time.front() < rank_.base_ns + rank_.last_end && rank_.base_ns + rank_.first_start < time.back();
}

RunMoment RunMoments::at(std::int64_t unix_ns) const {
  constexpr std::int64_t kHalfMicrosecond = 500;
  RunMoment of;
  std::int64_t time = 0;
  if (rank_.first_start == trace::kNoTime || unix_ns == trace::kNoTime ||
      __builtin_sub_overflow(unix_ns, rank_.base_ns - kHalfMicrosecond, &time))
    return of;
  const auto after = std::ranges::upper_bound(rank_.steps, time, {}, &trace::Step::start);
  if (after != rank_.steps.begin())
    if (const trace::Step& step = *std::prev(after); step.counts() && time < step.end) of.step = &step;
  std::int64_t latest = trace::kNoTime;
  for (const trace::Track& track : rank_.tracks) {
    if (track.side == trace::Track::Side::device) break;
    const Row inner = innermost_at(rank_, track, time);
    const Row op = outermost_op(rank_.events, inner);
    if (op == kNoRow || rank_.events.start[inner] <= latest) continue;
    latest = rank_.events.start[inner];
    of.inner = inner;
    of.op = op;
  }
  return of;
}

}  // namespace stepscope::derive
