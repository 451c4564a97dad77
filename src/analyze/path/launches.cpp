#include "analyze/path/launches.h"

#include <algorithm>
#include <limits>

namespace stepscope::analyze::path {

std::unordered_map<Position, QueueAround> queues_around(const PathRows& rows) {
  struct Change {
    Time time;
    int step;
    Position kernel;
  };
  std::map<std::int64_t, std::vector<Change>> by_stream;
  for (Position at = 0; at < rows.size(); ++at) {
    const Position call = rows.is_device(at) ? rows.partner(at) : kNone;
    if (call == kNone || (rows.rules().queues != nullptr && !rows.rules().queues(rows.name(call)))) continue;
    by_stream[rows.event(at).stream].push_back({rows.event(call).start, 1, at});
    by_stream[rows.event(at).stream].push_back({rows.event(at).start, -1, at});
  }
  std::unordered_map<Position, QueueAround> found;
  for (auto& [stream, changes] : by_stream) {
    std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
      return a.time != b.time ? a.time < b.time : a.step > b.step;
    });
    std::int64_t length = 0;
    for (const Change& change : changes) {
      length += change.step;
      (change.step > 0 ? found[change.kernel].at_launch : found[change.kernel].at_start) = length;
    }
  }
  return found;
}

Launches::Launches(const PathRows& rows, const std::vector<Position>& inside) : rows_(rows) {
  for (const Position at : inside) {
    const Position call = rows.partner(at);
    if (!rows.is_device(at) || rows.is_sync(at) || call == kNone) continue;
    const std::pair launch(rows.event(call).start, at);
    const std::int64_t stream = rows.event(at).stream;
    by_stream_[stream].push_back(launch);
    by_thread_[{stream, rows.track(call).pid, rows.track(call).tid}].push_back(launch);
  }
  for (auto& [stream, launches] : by_stream_) std::sort(launches.begin(), launches.end());
  for (auto& [key, launches] : by_thread_) std::sort(launches.begin(), launches.end());
}

Position Launches::before(std::int64_t stream, Time time) const {
  const auto found = by_stream_.find(stream);
  if (found == by_stream_.end()) return kNone;
  const InOrder& all = found->second;
  const auto after = std::lower_bound(all.begin(), all.end(), std::pair(time, kNone));
  return after == all.begin() ? kNone : std::prev(after)->second;
}

Position Launches::after(std::int64_t stream, Time time, const trace::Track& thread) const {
  const auto found = by_thread_.find({stream, thread.pid, thread.tid});
  if (found == by_thread_.end()) return kNone;
  const InOrder& all = found->second;
  const auto next =
      std::upper_bound(all.begin(), all.end(), std::pair(time, std::numeric_limits<Position>::max()));
  return next == all.end() ? kNone : next->second;
}

Position Launches::recorded_kernel(Position sync) {
  const trace::Rank& rank = *rows_.table().rank;
  const trace::ArgReader stream(rows_.trace(), rank, "wait_on_stream");
  const trace::ArgReader record(rows_.trace(), rank, "wait_on_cuda_event_record_corr_id");
  const trace::Row row = rows_.event(sync).row;
  if (calls_.empty())
    for (Position at = 0; at < rows_.size(); ++at)
      if (!rows_.is_device(at) && rows_.event(at).correlation >= 0)
        calls_.try_emplace(rows_.event(at).correlation, at);
  const auto call = calls_.find(record.integer_or(row, -1));
  return call == calls_.end() ? kNone : before(stream.integer_or(row, -1), rows_.event(call->second).start);
}

}  // namespace stepscope::analyze::path
