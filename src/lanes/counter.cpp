#include "lanes/counter.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/parallel.h"
#include "derive/idle/device_busy.h"
#include "derive/idle/stream_queues.h"
#include "derive/memory_records.h"
#include "lanes/lane.h"

namespace stepscope::lanes {
namespace {

using timeline::Interval;
using trace::Rank;
using trace::Trace;

constexpr std::size_t kBlock = 16;

Range joined(const Range& a, const Range& b) {
  return {std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)};
}

Counter busy_counter(const derive::DeviceBusy& device, const Rank& rank, const ToRun& to_run) {
  Column<Interval> spans;
  for (const Interval& part : device.all.parts()) spans.push_back({to_run(part.begin), to_run(part.end)});
  return {.key = fmt::format("r{}/d{}/busy", number_of(rank), device.device),
          .name = fmt::format("GPU {} busy", device.device),
          .unit = "share",
          .max = 1,
          .values = Busy{timeline::MeasuredSet(timeline::IntervalSet::of(std::move(spans)))}};
}

/// `amount`: by index in `records`; kAbsent leaves the record out.
void add_memory(std::vector<Counter>& out, const derive::MemoryRecords& records, const char* what,
                const Rank& rank, const ToRun& to_run, auto amount) {
  Column<Steps::Change> changes;
  for (std::uint32_t i = 0; i < records.size(); ++i)
    if (const std::int64_t bytes = amount(i); bytes != derive::MemoryRecords::kAbsent)
      changes.push_back({to_run(rank.events.start[records.row[i]]), static_cast<float>(bytes)});
  if (changes.empty()) return;
  const derive::MemoryDevice& device = records.device;
  const std::string place = device.host() ? "host" : fmt::format("m{}.{}", device.type, device.id);
  Steps steps(std::move(changes));
  const double highest = steps.highest();
  out.push_back({.key = fmt::format("r{}/{}/{}", number_of(rank), place, what),
                 .name = fmt::format("{} memory {}", device.name(), what),
                 .unit = "bytes",
                 .max = highest,
                 .values = std::move(steps)});
}

Counter queue_counter(const derive::StreamQueue& queue, const Rank& rank, const ToRun& to_run) {
  Column<Steps::Change> changes;
  changes.reserve(queue.lengths.size());
  for (const auto& [time, length] : queue.lengths)
    changes.push_back({to_run(time), static_cast<float>(length)});
  Steps steps(std::move(changes));
  const double highest = steps.highest();
  return {.key = fmt::format("r{}/d{}s{}/queue", number_of(rank), queue.device, queue.stream),
          .name = fmt::format("GPU {} stream {} queue", queue.device, queue.stream),
          .unit = "count",
          .max = highest,
          .values = std::move(steps)};
}

std::vector<Counter> counters_of_rank(const Trace& trace, const Rank& rank, const ToRun& to_run) {
  std::vector<Counter> out;
  for (const derive::DeviceBusy& device : derive::busy_devices(rank))
    out.push_back(busy_counter(device, rank, to_run));
  for (const derive::StreamQueue& queue : derive::stream_queues(rank, [](trace::Row) { return true; }))
    out.push_back(queue_counter(queue, rank, to_run));
  for (const derive::MemoryRecords& records : derive::memory_records(trace, rank)) {
    add_memory(out, records, "allocated", rank, to_run, [&](std::uint32_t i) { return records.level(i); });
    add_memory(out, records, "reserved", rank, to_run, [&](std::uint32_t i) { return records.reserved[i]; });
  }
  return out;
}

Range range_in(const Counter& counter, Time from, Time to) {
  if (const auto* steps = std::get_if<Steps>(&counter.values)) return steps->in(from, to);
  const Time busy = std::get<Busy>(counter.values).set.length_in({from, to});
  const auto share = static_cast<float>(static_cast<double>(busy) / static_cast<double>(to - from));
  return {share, share};
}

}  // namespace

Steps::Steps(Column<Change> changes) : changes_(std::move(changes)) {
  const auto blocks_over = [](std::size_t count, auto range_at) {
    Column<Range> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % kBlock == 0)
        blocks.push_back(range_at(i));
      else
        blocks.back() = joined(blocks.back(), range_at(i));
    }
    return blocks;
  };
  std::size_t count = changes_.size();
  while (count > kBlock) {
    blocks_.push_back(
        blocks_.empty()
            ? blocks_over(count, [&](std::size_t i) { return Range{changes_[i].value, changes_[i].value}; })
            : blocks_over(count, [&](std::size_t i) { return blocks_.back()[i]; }));
    count = blocks_.back().size();
  }
}

float Steps::highest() const { return in_changes(0, changes_.size()).highest; }

Range Steps::in(Time from, Time to) const {
  const auto at = [&](Time time) {
    return static_cast<std::size_t>(
        std::lower_bound(changes_.begin(), changes_.end(), time,
                         [](const Change& change, Time t) { return change.time < t; }) -
        changes_.begin());
  };
  const auto after = static_cast<std::size_t>(
      std::upper_bound(changes_.begin(), changes_.end(), from,
                       [](Time t, const Change& change) { return t < change.time; }) -
      changes_.begin());
  return in_changes(after == 0 ? 0 : after - 1, std::max(at(to), after));
}

Range Steps::in_changes(std::size_t begin, std::size_t end) const {
  Range range{changes_[begin].value, changes_[begin].value};
  const auto take = [&](std::size_t level, std::size_t i) {
    range = joined(range, level == 0 ? Range{changes_[i].value, changes_[i].value} : blocks_[level - 1][i]);
  };
  for (std::size_t level = 0; begin < end; ++level) {
    const bool top = level == blocks_.size();
    while (begin < end && (top || begin % kBlock != 0)) take(level, begin++);
    while (begin < end && end % kBlock != 0) take(level, --end);
    begin /= kBlock;
    end /= kBlock;
  }
  return range;
}

std::vector<Counter> counters_of(const Trace& trace, const RunClock& clock, unsigned threads) {
  std::vector<std::vector<Counter>> by_rank(trace.ranks.size());
  parallel_for(by_rank.size(), threads, [&](std::size_t q) {
    by_rank[q] = counters_of_rank(trace, trace.ranks[q], clock.of_rank[q]);
  });
  std::vector<Counter> out;
  for (std::uint32_t q = 0; q < by_rank.size(); ++q)
    for (Counter& counter : by_rank[q]) {
      counter.rank = q;
      if (out.size() < kMaxCounters) out.push_back(std::move(counter));
    }
  return out;
}

std::vector<Stretch> stretches_in(const Counter& counter, const Tile& tile, Time end) {
  std::vector<Stretch> out;
  const auto* steps = std::get_if<Steps>(&counter.values);
  const Time first = steps != nullptr ? steps->first() : 0;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const Time begin = tile.begin() + static_cast<Time>(bucket) * tile.bucket();
    if (begin >= end || begin >= tile.end()) break;
    const Time until = std::min(begin + tile.bucket(), tile.end());
    if (until <= first) continue;
    const Range range = range_in(counter, std::max(begin, first), until);
    const auto at = static_cast<std::uint16_t>(bucket);
    if (!out.empty() && out.back().end == at && out.back().range == range)
      ++out.back().end;
    else
      out.push_back({at, static_cast<std::uint16_t>(at + 1), range});
  }
  return out;
}

}  // namespace stepscope::lanes
