#include "derive/replay/recorded_waits.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "derive/id_index.h"

namespace stepscope::derive {
namespace {

using timeline::Time;
using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Rank;
using trace::Row;

constexpr std::int64_t kNoStream = -1;

/// The launched events of each stream, in launch order.
class Streams {
 public:
  Streams(const Rank& rank, const ReplayPlan& plan) : e_(rank.events), plan_(plan) {
    for (std::size_t i = 0; i < plan.events.size(); ++i) {
      const trace::Track& track = rank.tracks[e_.track[plan.events[i].row]];
      if (plan.events[i].call != ReplayPlan::kNone)
        events_[{track.device, track.stream}].push_back(static_cast<std::int32_t>(i));
    }
    for (auto& [stream, list] : events_)
      std::stable_sort(list.begin(), list.end(),
                       [&](std::int32_t a, std::int32_t b) { return launched(a) < launched(b); });
  }
  /// The last event launched on the stream before `time`, kNone if there is none.
  std::int32_t last_before(std::int64_t device, std::int64_t stream, Time time) const {
    const auto found = events_.find({device, stream});
    if (found == events_.end()) return ReplayPlan::kNone;
    const auto after = behind(found->second, time);
    return after == found->second.begin() ? ReplayPlan::kNone : *(after - 1);
  }
  std::int32_t first_from(std::int64_t device, std::int64_t stream, Time time) const {
    const auto found = events_.find({device, stream});
    if (found == events_.end()) return ReplayPlan::kNone;
    const auto after = behind(found->second, time);
    return after == found->second.end() ? ReplayPlan::kNone : *after;
  }

 private:
  Time launched(std::int32_t event) const {
    return e_.start[e_.launch[plan_.events[static_cast<std::size_t>(event)].row]];
  }
  std::vector<std::int32_t>::const_iterator behind(const std::vector<std::int32_t>& list, Time time) const {
    return std::lower_bound(list.begin(), list.end(), time,
                            [&](std::int32_t event, Time t) { return launched(event) < t; });
  }

  const EventTable& e_;
  const ReplayPlan& plan_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>> events_;
};

}  // namespace

RecordedWaits recorded_waits(const trace::Trace& trace, const Rank& rank, const ReplayPlan& plan) {
  RecordedWaits found{{}, std::vector<std::int32_t>(plan.calls.size(), ReplayPlan::kNone)};
  const EventTable& e = rank.events;
  std::vector<Row> syncs;
  for (const Row row : rank.device_rows())
    if (e.kind[row] == Kind::device_sync && e.launch[row] != kNoRow) syncs.push_back(row);
  if (syncs.empty()) return found;
  const trace::ArgReader correlation(trace, rank, "correlation"), device(trace, rank, "device"),
      stream(trace, rank, "stream"), other(trace, rank, "wait_on_stream"),
      record(trace, rank, "wait_on_cuda_event_record_corr_id");
  IdIndex calls;
  for (const Row row : rank.host_rows())
    if (e.kind[row] == Kind::runtime)
      if (const auto id = correlation.integer(row)) calls.add(*id, row);
  calls.build();
  const Streams streams(rank, plan);
  for (const Row row : syncs) {
    const Row call = e.launch[row], recorded = calls.find(record.integer_or(row, 0));
    const std::int64_t on = device.integer_or(row, 0), own = stream.integer_or(row, kNoStream),
                       awaited = other.integer_or(row, kNoStream);
    const auto known = std::lower_bound(plan.calls.begin(), plan.calls.end(), call,
                                        [](const ReplayPlan::Call& c, Row r) { return c.row < r; });
    const bool waits = known != plan.calls.end() && known->row == call && known->waiting == Waiting::work;
    const bool event = awaited >= 0 && recorded != kNoRow;
    const std::int32_t until = event               ? streams.last_before(on, awaited, e.start[recorded])
                               : waits && own >= 0 ? streams.last_before(on, own, e.start[call])
                                                   : ReplayPlan::kNone;
    if (until == ReplayPlan::kNone) continue;
    if (waits) {
      found.calls[static_cast<std::size_t>(known - plan.calls.begin())] = until;
    } else if (event && own >= 0) {
      const std::int32_t next = streams.first_from(on, own, e.end[call]);
      if (next != ReplayPlan::kNone && next != until) found.events.push_back({next, until});
    }
  }
  std::sort(found.events.begin(), found.events.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.event, a.on) < std::tuple(b.event, b.on);
  });
  return found;
}

}  // namespace stepscope::derive
