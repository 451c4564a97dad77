#include "analyze/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/drawing.h"

namespace stepscope::analyze {
namespace {

/// The changes of a rate, and its earliest row.
struct Copies {
  trace::Row row = trace::kNoRow;
  std::vector<CounterChange<double>> changes;
};

}  // namespace

std::string copy_kind(std::string_view name) {
  constexpr std::size_t kKind = 11;
  if (name.starts_with("Memset")) return "Memset";
  return name.starts_with("Memcpy") ? std::string(name.substr(0, kKind)) : "Memcpy Unknown";
}

void draw_queue(Sketch& sketch, std::int64_t stream, const std::vector<CounterChange<std::int64_t>>& lengths,
                trace::Row row) {
  const auto counter = sketch.counter(fmt::format("Queue Length (stream {})", stream), "Queue Length", row);
  for (const auto& [time, length] : lengths)
    sketch.drawing().points.push_back({time, static_cast<double>(length), counter});
}

void draw_rate(Sketch& sketch, const std::string& kind, const std::vector<CounterChange<double>>& rates,
               trace::Row row) {
  constexpr double kGiga = 1e9;
  const auto counter = sketch.counter(kind, "Memcpy BW", row);
  for (const auto& [time, rate] : rates) sketch.drawing().points.push_back({time, rate / kGiga, counter});
}

void draw_queue_length(const Derived& derived, const report::Params& /*params*/, Sketch& sketch) {
  const trace::Rank& rank = sketch.rank();
  const std::vector<derive::StreamQueue> queues =
      derive::stream_queues(rank, [&](trace::Row row) { return derived.choice().includes(rank, row); });
  for (const derive::StreamQueue& queue : queues)
    draw_queue(sketch, queue.stream, queue.lengths, queue.first);
  if (queues.empty()) sketch.notes.emplace_back(kNoLaunchNote);
}

void draw_copy_rates(const Derived& derived, const report::Params& /*params*/, Sketch& sketch) {
  const trace::Rank& rank = sketch.rank();
  const auto& e = rank.events;
  const trace::ArgReader bytes(derived.trace(), rank, "bytes");
  std::map<std::pair<std::int64_t, std::string>, Copies> copies;  // device, kind
  for (const trace::Row row : rank.device_rows()) {
    if (e.work[row] != trace::Work::copy && e.work[row] != trace::Work::fill) continue;
    const auto moved = bytes.integer(row);
    if (!moved || e.duration(row) <= 0 || !derived.choice().includes(rank, row)) continue;
    const double rate = static_cast<double>(*moved) / static_cast<double>(e.duration(row)) * 1e9;
    auto& copy = copies[{rank.tracks[e.track[row]].device, copy_kind(derived.trace().name(rank, row))}];
    copy.row = std::min(copy.row, row);
    copy.changes.push_back({e.start[row], rate});
    copy.changes.push_back({e.end[row], -rate});
  }
  for (auto& [key, copy] : copies) {
    running_rates(copy.changes);
    draw_rate(sketch, key.second, copy.changes, copy.row);
  }
  if (copies.empty()) sketch.notes.emplace_back(kNoCopyNote);
}

}  // namespace stepscope::analyze
