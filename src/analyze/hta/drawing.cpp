// Draws HTA's counters.
#include "analyze/drawing.h"

#include <algorithm>

#include "analyze/hta/series.h"

namespace stepscope::analyze::hta {
namespace {

/// `series` with its times converted to those of the file.
template <class Key, class Value>
std::map<Key, std::vector<CounterChange<Value>>> in_file(
    const DeviceSpans& of, std::map<Key, std::vector<CounterChange<Value>>> series) {
  for (auto& [key, changes] : series)
    for (CounterChange<Value>& change : changes) change.time += of.earliest;
  return series;
}

const DeviceSpans& spans_in(const Derived& derived, const report::Params& params, const Sketch& sketch) {
  const std::vector<DeviceSpans>& ranks = spans_of(derived, params);
  return *std::find_if(ranks.begin(), ranks.end(),
                       [&](const DeviceSpans& of) { return of.rank == &sketch.rank(); });
}

}  // namespace

void draw_queue_length(const Derived& derived, const report::Params& params, Sketch& sketch) {
  const DeviceSpans& of = spans_in(derived, params, sketch);
  const auto queues = in_file(of, queues_of(derived.trace(), of));
  for (const auto& [stream, lengths] : queues) {
    const auto on_stream = [id = stream](const DeviceSpan& span) { return span.stream == id; };
    draw_queue(sketch, stream, lengths, std::find_if(of.spans.begin(), of.spans.end(), on_stream)->row);
  }
  if (queues.empty()) sketch.notes.emplace_back(kNoLaunchNote);
}

void draw_copy_rates(const Derived& derived, const report::Params& params, Sketch& sketch) {
  const DeviceSpans& of = spans_in(derived, params, sketch);
  const auto copies = in_file(of, rates_of(derived.trace(), of));
  for (const auto& [kind, rates] : copies) draw_rate(sketch, kind, rates, of.spans.front().row);
  if (copies.empty()) sketch.notes.emplace_back(kNoCopyNote);
}

}  // namespace stepscope::analyze::hta
