#include "derive/replay/handoffs.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace stepscope::derive {
namespace {

using timeline::Interval;
using timeline::Time;
using trace::EventTable;
using trace::Row;
using trace::TrackId;

constexpr Time kQuiet = 20'000;      // ns
constexpr Time kAsleep = 1'000'000;  // ns; a side thread that is quiet for this long was not working

/// Quiet times of a thread, in order, from before its first range to after its last: no range begins or ends
/// for at least kQuiet, and the innermost open range does not wait for the device.
class QuietTimes {
 public:
  QuietTimes(const EventTable& e, const std::vector<Waiting>& waits) : e_(e), waits_(waits) {}

  Column<Interval> of(const trace::Track& track) {
    quiet_.clear();
    open_.clear();
    last_ = std::numeric_limits<Time>::min() / 2;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!is_host_range(e_.kind[row])) continue;
      close_until(e_.start[row]);
      at(e_.start[row]);
      open_.push_back(row);
    }
    close_until(std::numeric_limits<Time>::max());
    at(std::numeric_limits<Time>::max() / 2);
    return std::move(quiet_);
  }

 private:
  void close_until(Time time) {
    while (!open_.empty() && e_.end[open_.back()] <= time) {
      at(e_.end[open_.back()]);
      open_.pop_back();
    }
  }
  void at(Time time) {
    if (time <= last_) return;
    const bool waited = !open_.empty() && waits_[open_.back()] != Waiting::no;
    if (time - last_ >= kQuiet && !waited) quiet_.push_back({last_, time});
    last_ = time;
  }

  const EventTable& e_;
  const std::vector<Waiting>& waits_;
  Column<Interval> quiet_;
  std::vector<Row> open_;
  Time last_ = 0;
};

/// The quiet time that contains `time` or ends at it.
const Interval* quiet_at(const Column<Interval>& quiet, Time time) {
  const auto found =
      std::lower_bound(quiet.begin(), quiet.end(), time, [](const Interval& i, Time t) { return i.end < t; });
  return found != quiet.end() && found->begin <= time ? &*found : nullptr;
}

}  // namespace

std::vector<Handoff> handoffs(const trace::Rank& rank, const std::vector<TrackId>& threads, TrackId main,
                              const std::vector<Waiting>& waits) {
  QuietTimes times(rank.events, waits);
  std::vector<Column<Interval>> quiet;
  for (const TrackId thread : threads) quiet.push_back(times.of(rank.tracks[thread]));
  std::vector<Handoff> found;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    for (const Interval& own : quiet[t]) {
      if (own.end == std::numeric_limits<Time>::max() / 2) continue;
      std::optional<Handoff> best;
      bool main_works = threads[t] != main;
      for (std::size_t other = 0; other < threads.size(); ++other) {
        const Interval* theirs = other == t ? nullptr : quiet_at(quiet[other], own.end);
        if (theirs == nullptr) continue;
        if (threads[other] == main) main_works = false;
        if (theirs->begin <= own.begin) continue;
        if (!best || theirs->begin > best->released)
          best = Handoff{threads[t], threads[other], own.begin, theirs->begin, own.end};
      }
      if (!best && main_works && own.length() >= kAsleep)
        best = Handoff{threads[t], main, own.begin, own.end, own.end};
      if (best) found.push_back(*best);
    }
  }
  std::sort(found.begin(), found.end(), [](const Handoff& a, const Handoff& b) {
    return std::tuple(a.resumed, a.thread) < std::tuple(b.resumed, b.thread);
  });
  return found;
}

}  // namespace stepscope::derive
