#include "analyze/hta/spans.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {
namespace {

using timeline::Interval;
using timeline::IntervalSet;

bool is_work_category(std::string_view category) {
  constexpr std::string_view kCategories[] = {"kernel",     "Kernel", "gpu_memset",     "Memset",
                                              "gpu_memcpy", "Memcpy", "mtia_ccp_events"};
  return std::find(std::begin(kCategories), std::end(kCategories), category) != std::end(kCategories);
}

DeviceSpans spans_of(const trace::Trace& trace, const Table& table) {
  DeviceSpans of{table.rank, table.earliest, 0, {}};
  const auto& e = table.rank->events;
  trace::AskedOnce is_work(trace.strings, is_work_category);
  std::unordered_map<std::int64_t, const Event*> by_index;
  Time first = std::numeric_limits<Time>::max(), last = 0;
  for (const Event& event : table.events) {
    if (event.partner > 0 && event.stream == -1) by_index[event.index] = &event;
    first = std::min(first, event.start);
    last = std::max(last, event.start);
  }
  of.duration = std::max<Time>(0, last - first);
  for (const Event& event : table.events) {
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
    span.type = kernel_type(trace.text(e.name[event.row]));
    span.works = is_work(e.category[event.row]);
    of.spans.push_back(span);
  }
  return of;
}

template <class Wanted>
IntervalSet covered_by(const DeviceSpans& of, Wanted wanted) {
  Column<Interval> intervals;
  for (const DeviceSpan& span : of.spans)
    if (wanted(span)) intervals.push_back({span.start, span.end});
  return IntervalSet::of(std::move(intervals));
}

}  // namespace

const std::vector<DeviceSpans>& spans_of(const Derived& derived, const report::Params& params) {
  struct Spans {
    std::vector<DeviceSpans> of_ranks;
  };
  const auto keep = keep_of(params);
  return derived
      .kept<Spans>(static_cast<int>(keep),
                   [&] {
                     Spans spans;
                     for (const Table& table : tables_of(derived, keep))
                       spans.of_ranks.push_back(spans_of(derived.trace(), table));
                     return spans;
                   })
      .of_ranks;
}

IntervalSet covered(const DeviceSpans& of, KernelType type) {
  return covered_by(of, [&](const DeviceSpan& span) { return span.type == type; });
}
IntervalSet covered(const DeviceSpans& of) {
  return covered_by(of, [](const DeviceSpan&) { return true; });
}

namespace {

template <class Wanted>
Time merged_length(const DeviceSpans& of, Wanted wanted) {
  std::vector<const DeviceSpan*> spans;
  for (const DeviceSpan& span : of.spans)
    if (wanted(span)) spans.push_back(&span);
  std::stable_sort(spans.begin(), spans.end(),
                   [](const DeviceSpan* a, const DeviceSpan* b) { return a->start < b->start; });
  Time length = 0, begin = 0, end = 0;
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

Time covered_length(const DeviceSpans& of) {
  return merged_length(of, [](const DeviceSpan&) { return true; });
}
Time covered_length(const DeviceSpans& of, KernelType type) {
  return merged_length(of, [&](const DeviceSpan& span) { return span.type == type; });
}

}  // namespace stepscope::analyze::hta
