#include "analyze/idle/device_spans.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "analyze/hta/rows.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze {
namespace {

using timeline::Interval;
using timeline::IntervalSet;
using trace::Rank;
using trace::Row;
using trace::Track;

bool is_work_category(std::string_view category) {
  constexpr std::string_view kCategories[] = {"kernel",     "Kernel", "gpu_memset",     "Memset",
                                              "gpu_memcpy", "Memcpy", "mtia_ccp_events"};
  return std::find(std::begin(kCategories), std::end(kCategories), category) != std::end(kCategories);
}

DeviceSpans spans_of(const trace::Trace& trace, const hta::Table& table) {
  DeviceSpans of{table.rank, report::kNoInt, 0, table.earliest, 0, {}};
  const auto& e = table.rank->events;
  trace::AskedOnce is_work(trace.strings, is_work_category);
  std::unordered_map<std::int64_t, const hta::Event*> by_index;
  timeline::Time first = std::numeric_limits<timeline::Time>::max(), last = 0;
  for (const hta::Event& event : table.events) {
    if (event.partner > 0 && event.stream == -1) by_index[event.index] = &event;
    first = std::min(first, event.start);
    last = std::max(last, event.start);
  }
  of.duration = std::max<timeline::Time>(0, last - first);
  for (const hta::Event& event : table.events) {
    if (event.stream == -1) continue;
    DeviceSpan span{event.start, event.end()};
    span.stream = event.stream;
    span.correlation = event.correlation;
    span.row = event.row;
    const auto call = by_index.find(event.partner);
    if (event.partner > 0 && call != by_index.end()) {
      span.launched = call->second->start;
      span.call_end = call->second->end();
      span.call = call->second->row;
    }
    span.type = hta::kernel_type(trace.text(e.name[event.row]));
    span.works = is_work(e.category[event.row]);
    of.spans.push_back(span);
  }
  return of;
}

void add_devices(std::vector<DeviceSpans>& out, const trace::Trace& trace, const Rank& rank,
                 const StepChoice& choice) {
  const auto& e = rank.events;
  const trace::ArgReader correlation(trace, rank, "correlation");
  std::map<std::int64_t, DeviceSpans> by_device;
  const timeline::Time origin = origin_of(rank);
  timeline::Time last = origin;
  for (const timeline::Time start : e.start) last = std::max(last, start);
  for (const Track& track : rank.tracks) {
    if (track.side != Track::Side::device) continue;
    for (Row row = track.begin; row < track.end; ++row) {
      if (!is_device_work(e.kind[row]) || !choice.includes(rank, row)) continue;
      DeviceSpans& of =
          by_device.try_emplace(track.device, DeviceSpans{&rank, track.device, origin, 0, last - origin, {}})
              .first->second;
      const Row call = e.launch[row];
      const bool launched = call != trace::kNoRow;
      of.spans.push_back({e.start[row], e.end[row], launched ? e.start[call] : trace::kNoTime,
                          launched ? e.end[call] : trace::kNoTime, track.stream,
                          correlation.integer_or(row, -1), row, call, type_of(e.work[row])});
    }
  }
  for (auto& [device, of] : by_device) {
    std::sort(of.spans.begin(), of.spans.end(), [](const DeviceSpan& a, const DeviceSpan& b) {
      return a.start != b.start ? a.start < b.start : a.row < b.row;
    });
    out.push_back(std::move(of));
  }
}

template <class Wanted>
IntervalSet covered_by(const DeviceSpans& of, Wanted wanted) {
  Column<Interval> intervals;
  for (const DeviceSpan& span : of.spans)
    if (wanted(span)) intervals.push_back({span.start, span.end});
  return IntervalSet::of(std::move(intervals));
}

}  // namespace

KernelType type_of(trace::Work work) {
  switch (work) {
    case trace::Work::compute:
      return KernelType::computation;
    case trace::Work::communication:
      return KernelType::communication;
    case trace::Work::copy:
    case trace::Work::fill:
      return KernelType::memory;
    case trace::Work::none:
      break;
  }
  return KernelType::other;
}

std::vector<DeviceSpans> device_spans(const Derived& derived, const report::Params& params) {
  std::vector<DeviceSpans> out;
  if (params.flag("hta-compat")) {
    for (const hta::Table& table : derived.hta(hta::keep_of(params)))
      out.push_back(spans_of(derived.trace(), table));
  } else {
    for (const Rank& rank : derived.trace().ranks) add_devices(out, derived.trace(), rank, derived.choice());
  }
  return out;
}

IntervalSet covered(const DeviceSpans& of, KernelType type) {
  return covered_by(of, [&](const DeviceSpan& span) { return span.type == type; });
}
IntervalSet covered(const DeviceSpans& of) {
  return covered_by(of, [](const DeviceSpan&) { return true; });
}

namespace {

template <class Wanted>
timeline::Time merged_length(const DeviceSpans& of, Wanted wanted) {
  std::vector<const DeviceSpan*> spans;
  for (const DeviceSpan& span : of.spans)
    if (wanted(span)) spans.push_back(&span);
  std::stable_sort(spans.begin(), spans.end(),
                   [](const DeviceSpan* a, const DeviceSpan* b) { return a->start < b->start; });
  timeline::Time length = 0, begin = 0, end = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i == 0 || spans[i]->start > end) {
      report::add_to(length, end - begin);
      begin = spans[i]->start;
      end = spans[i]->end;
    }
    end = std::max(end, spans[i]->end);
  }
  return report::plus(length, end - begin);
}

}  // namespace

timeline::Time covered_length(const DeviceSpans& of) {
  return merged_length(of, [](const DeviceSpan&) { return true; });
}
timeline::Time covered_length(const DeviceSpans& of, KernelType type) {
  return merged_length(of, [&](const DeviceSpan& span) { return span.type == type; });
}

DeviceColumns::DeviceColumns(report::Table& table, const trace::Trace& trace, const report::Params& params)
    : rank_(table, trace),
      device_(params.flag("hta-compat") ? nullptr
                                        : &table.ints("device", report::Unit::none, report::Role::key)) {}

void DeviceColumns::add(const DeviceSpans& of) {
  rank_.add(*of.rank);
  if (device_ != nullptr) device_->push_back(of.device);
}

}  // namespace stepscope::analyze
