#include "analyze/hta/spans.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {
namespace {

using timeline::Interval;
using timeline::IntervalSet;

bool is_work_category(std::string_view category) {
  constexpr std::string_view kCategories[] = {"kernel",     "Kernel", "gpu_memset",     "Memset",
                                              "gpu_memcpy", "Memcpy", "mtia_ccp_events"};
  return is_one_of(category, kCategories);
}

DeviceSpans spans_of(const trace::Trace& trace, const Table& table) {
  DeviceSpans of{table.rank, table.earliest, 0, {}};
  const auto& e = table.rank->events;
  trace::AskedOnce is_work(trace.strings, is_work_category);
  trace::AskedOnce type_of(trace.strings, kernel_type);
  std::unordered_map<std::int64_t, const Event*> by_index;
  Time first = std::numeric_limits<Time>::max(), last = 0;
  for (const Event& event : table.events) {
    if (event.correlation != -1 && event.stream == -1) by_index[event.index] = &event;
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
    if (event.correlation != -1 && call != by_index.end() && call->second->correlation == event.correlation) {
      span.launched = call->second->start;
      span.call_end = call->second->end();
      span.call = call->second->row;
    }
    span.type = type_of(e.name[event.row]);
    span.works = is_work(e.category[event.row]);
    of.spans.push_back(span);
  }
  return of;
}

}  // namespace

const std::vector<DeviceSpans>& spans_of(const Derived& derived, const report::Params& params) {
  const Keep keep = keep_of(params);
  return derived.kept<std::vector<DeviceSpans>>(static_cast<int>(keep), [&] {
    std::vector<DeviceSpans> spans;
    for (const Table& table : tables_of(derived, keep)) spans.push_back(spans_of(derived.trace(), table));
    return spans;
  });
}

IntervalSet covered(const DeviceSpans& of, std::optional<KernelType> type) {
  Column<Interval> intervals;
  for (const DeviceSpan& span : of.spans)
    if (!type || span.type == *type) intervals.push_back({span.start, span.end});
  return IntervalSet::of(std::move(intervals));
}

Time covered_length(const DeviceSpans& of, std::optional<KernelType> type) {
  std::vector<Interval> spans;
  for (const DeviceSpan& span : of.spans)
    if (!type || span.type == *type) spans.push_back({span.start, span.end});
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Time length = 0;
  Interval merged;
  for (const Interval& span : spans) {
    if (&span == &spans.front() || span.begin > merged.end) {
      report::add_to(length, merged.end - merged.begin);
      merged = span;
    }
    merged.end = std::max(merged.end, span.end);
  }
  return report::plus(length, merged.end - merged.begin);
}

}  // namespace stepscope::analyze::hta
