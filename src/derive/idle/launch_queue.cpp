#include "derive/idle/launch_queue.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/sort_runs.h"
#include "derive/kernel_class.h"

namespace stepscope::derive {

using trace::EventTable;
using trace::Kind;
using trace::kNoRow;
using trace::Row;

namespace {

constexpr std::int64_t kLongCopyCall = 50'000;  // ns
constexpr std::int64_t kLongLaunchFactor = 10;
constexpr std::int32_t kNearlyFull = 900;

/// The class of a call, looked up once per name.
class Calls {
 public:
  enum CallClass : std::uint8_t { kUnknown, kPlain, kBlocking, kGraph };
  explicit Calls(const trace::Trace& trace) : trace_(trace), known_(trace.strings.size(), kUnknown) {}
  CallClass of(trace::StringId name) {
    CallClass& known = known_[name];
    if (known == kUnknown) {
      const std::string_view text = trace_.text(name);
      known = is_blocking_call(text) ? kBlocking : is_graph_launch(text) ? kGraph : kPlain;
    }
    return known;
  }

 private:
  const trace::Trace& trace_;
  std::vector<CallClass> known_;
};

LaunchQueue launched_events(const trace::Rank& rank, Calls& calls) {
  const EventTable& e = rank.events;
  LaunchQueue queue;
  const auto launched = [&](Row row) { return is_device_work(e.kind[row]) && e.launch[row] != kNoRow; };
  std::size_t count = 0;
  for (const Row row : rank.device_rows()) count += launched(row);
  queue.event.reserve(count), queue.launch.reserve(count), queue.delay.reserve(count);
  for (const Row row : rank.device_rows())
    if (launched(row)) queue.event.push_back(row);
  const auto order = [&](Row row) {
    return std::tuple(e.start[e.launch[row]], e.start[row], e.end[row], e.track[row], e.launch[row]);
  };
  sort_runs(queue.event, [&](Row a, Row b) { return order(a) < order(b); });
  for (const Row row : queue.event) {
    const Row launch = e.launch[row];
    const std::int64_t from = calls.of(e.name[launch]) == Calls::kGraph ? e.start[launch] : e.end[launch];
    queue.launch.push_back(launch);
    queue.delay.push_back(std::max<std::int64_t>(0, e.start[row] - from));
  }
  return queue;
}

/// The depth at each launch of one stream. `entries` are indices into the queue, in its order.
void fill_depth(const EventTable& e, LaunchQueue& queue, const std::vector<std::uint32_t>& entries) {
  Column<std::int64_t> called, started;  // one per launch
  Column<std::pair<Row, std::int64_t>> launches;
  called.reserve(entries.size()), started.reserve(entries.size()), launches.reserve(entries.size());
  for (const std::uint32_t i : entries) launches.emplace_back(queue.launch[i], e.start[queue.event[i]]);
  sort_runs(launches, std::less<>());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (i > 0 && launches[i].first == launches[i - 1].first) continue;
    called.push_back(e.start[launches[i].first]);
    started.push_back(launches[i].second);
  }
  sort_runs(called, std::less<>());
  sort_runs(started, std::less<>());
  std::size_t calls = 0, starts = 0;
  for (const std::uint32_t i : entries) {
    const std::int64_t now = e.start[queue.launch[i]];
    while (calls < called.size() && called[calls] <= now) ++calls;
    while (starts < started.size() && started[starts] <= now) ++starts;
    const std::size_t waiting = calls > starts ? calls - starts : 0;
    queue.depth[i] =
        static_cast<std::int32_t>(std::min<std::size_t>(waiting, std::numeric_limits<std::int32_t>::max()));
  }
}

std::int64_t median_launch(const EventTable& e, const LaunchQueue& queue) {
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < queue.size(); ++i)
    if (e.kind[queue.event[i]] == Kind::kernel && (i == 0 || queue.launch[i] != queue.launch[i - 1]))
      lengths.push_back(e.duration(queue.launch[i]));
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

}  // namespace

bool stayed_for_copy(const EventTable& e, Row call, Row copy) {
  return e.end[call] >= e.start[copy] + e.duration(copy) / 2 && e.end[call] > e.start[copy];
}

LaunchQueue launch_queue(const trace::Trace& trace, const trace::Rank& rank) {
  const EventTable& e = rank.events;
  Calls calls(trace);
  LaunchQueue queue = launched_events(rank, calls);
  queue.depth.assign(queue.size(), 0);
  std::vector<std::vector<std::uint32_t>> by_track(rank.tracks.size());
  for (std::uint32_t i = 0; i < queue.size(); ++i) by_track[e.track[queue.event[i]]].push_back(i);
  for (const auto& entries : by_track) fill_depth(e, queue, entries);
  const std::int64_t usual = median_launch(e, queue);
  queue.blocked.assign(queue.size(), 0);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const Row launch = queue.launch[i];
    const std::int64_t length = e.duration(launch);
    const bool copy = e.kind[queue.event[i]] == Kind::memcpy;
    const bool waits = calls.of(e.name[launch]) == Calls::kBlocking ||
                       (copy && length > kLongCopyCall && stayed_for_copy(e, launch, queue.event[i])) ||
                       (!copy && queue.depth[i] >= kNearlyFull && length / kLongLaunchFactor > usual);
    if (waits) queue.blocked[i] = length;
  }
  return queue;
}

std::vector<bool> prompt_events(const LaunchQueue& queue, std::size_t rows) {
  std::vector<bool> prompt(rows);
  for (std::size_t i = 0; i < queue.size(); ++i) prompt[queue.event[i]] = queue.delay[i] <= kPromptDelay;
  return prompt;
}

}  // namespace stepscope::derive
