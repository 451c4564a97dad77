#include "derive/shape_windows.h"

namespace stepscope::derive {

using trace::Row;

ShapeWindows::ShapeWindows(const trace::Trace& trace, const trace::Rank& rank, timeline::Interval span)
    : rank_(rank), dims_(trace, rank, "Input Dims") {
  if (rank.shapes_cost <= 0) return;
  const trace::EventTable& e = rank.events;
  for (const Row row : rank.host_rows()) {
    if (e.kind[row] != trace::Kind::op || !span.contains(e.start[row])) continue;
    Sum& sum = by_op_[e.name[row]];
    const auto time = static_cast<double>(e.duration(row));
    ++sum.calls;
    sum.time += time;
    if (!dims_.has(row)) continue;
    ++sum.seen_calls;
    sum.seen_time += time;
  }
}

bool ShapeWindows::lacks(Row row) const {
  if (by_op_.empty() || dims_.has(row)) return false;
  const auto of = by_op_.find(rank_.events.name[row]);
  return of != by_op_.end() && of->second.seen_calls > 0;
}

double ShapeWindows::time_scale(trace::StringId op) const {
  const auto of = by_op_.find(op);
  return of == by_op_.end() || of->second.seen_time <= 0 ? 1 : of->second.time / of->second.seen_time;
}

double ShapeWindows::call_scale(trace::StringId op) const {
  const auto of = by_op_.find(op);
  return of == by_op_.end() || of->second.seen_calls <= 0 ? 1 : of->second.calls / of->second.seen_calls;
}

}  // namespace stepscope::derive
