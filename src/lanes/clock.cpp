#include "lanes/clock.h"

#include <algorithm>
#include <cmath>

namespace stepscope::lanes {
namespace {

Time clamped(__int128 time) {
  return time < -kMaxTime ? -kMaxTime : time > kMaxTime ? kMaxTime : static_cast<Time>(time);
}

Time unix_time(Time base, Time of_file) { return clamped(static_cast<__int128>(base) + of_file); }

/// A rank's recording on the clock of all, before the origin is known.
struct RankOnClock {
  derive::ClockMap map;
  Time first = trace::kNoTime, last = trace::kNoTime;  ///< kNoTime without events
  bool apart = false;                                  ///< its clock is not aligned
  bool alone = false;                                  ///< and no other rank is recorded at the same time
};

RankOnClock on_clock(const trace::Rank& rank, const derive::RankClock* clock) {
  RankOnClock out;
  if (clock != nullptr) {
    out.apart = clock->state == derive::ClockState::apart;
    if (!out.apart) out.map = clock->fit.steady_map();
  }
  if (rank.first_start == trace::kNoTime) return out;
  out.first = out.map(unix_time(rank.base_ns, rank.first_start));
  out.last = std::max(out.first, out.map(unix_time(rank.base_ns, rank.last_end)));
  return out;
}

void find_alone(std::vector<RankOnClock>& ranks) {
  std::vector<RankOnClock*> by_begin;
  for (RankOnClock& rank : ranks)
    if (rank.first != trace::kNoTime) by_begin.push_back(&rank);
  std::sort(by_begin.begin(), by_begin.end(),
            [](const RankOnClock* a, const RankOnClock* b) { return a->first < b->first; });
  Time reached = trace::kNoTime;  // by the ranks before
  for (std::size_t i = 0; i < by_begin.size(); ++i) {
    RankOnClock& rank = *by_begin[i];
    const bool meets_next = i + 1 < by_begin.size() && by_begin[i + 1]->first <= rank.last;
    rank.alone = rank.apart && rank.first > reached && !meets_next;
    reached = std::max(reached, rank.last);
  }
}

}  // namespace

ToRun::ToRun(const derive::ClockMap& map, Time base, Time origin)
    : map_(map),
      base_(base),
      origin_(origin),
      add_(clamped(static_cast<__int128>(base) - map.shift - std::llround(map.offset) - origin)) {}

Time ToRun::bent(Time of_file) const { return moved(map_(unix_time(base_, of_file)), -origin_); }

RunClock run_clock(const trace::Trace& trace, const std::vector<derive::RankClock>& clocks) {
  const bool several = trace.ranks.size() > 1;
  std::vector<RankOnClock> ranks;
  RunClock out;
  for (std::size_t q = 0; q < trace.ranks.size(); ++q) {
    ranks.push_back(on_clock(trace.ranks[q], several ? &clocks[q] : nullptr));
    if (ranks[q].apart) {
      out.own.push_back(trace.ranks[q].rank);
      out.aligned = false;
    } else if (several) {
      out.error = std::max(out.error, clocks[q].fit.uncertainty_edge);
    }
  }
  find_alone(ranks);
  Time origin = trace::kNoTime;
  for (const RankOnClock& rank : ranks)
    if (rank.first != trace::kNoTime && !rank.alone)
      origin = origin == trace::kNoTime ? rank.first : std::min(origin, rank.first);
  for (std::size_t q = 0; q < ranks.size(); ++q) {
    const RankOnClock& rank = ranks[q];
    const Time from = rank.alone || origin == trace::kNoTime ? rank.first : origin;
    out.of_rank.emplace_back(rank.map, trace.ranks[q].base_ns, from == trace::kNoTime ? 0 : from);
  }
  return out;
}

}  // namespace stepscope::lanes
