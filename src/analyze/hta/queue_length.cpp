// How much launched work waits on each stream, over time.
#include <map>

#include "analyze/describe.h"
#include "analyze/hta/series.h"
#include "analyze/list.h"
#include "report/statistics.h"
#include "trace/asked_once.h"

namespace stepscope::analyze::hta {
namespace {

using report::Role;
using report::Tag;
using report::Unit;

struct QueueSummary : Description {
  std::int64_t rank, stream;
  Time full;          ///< time with at least `limit` launches waiting, ns
  double full_share;  ///< full ÷ DeviceSpans::duration
};
struct QueuePoint {
  std::int64_t rank, stream;
  Time time;
  std::int64_t length;
};

Time time_at(const Lengths& points, std::int64_t limit) {
  Time time = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    if (points[i].value >= limit) report::add_to(time, points[i + 1].time - points[i].time);
  return time;
}

const report::Sheet<QueueSummary> kQueueSummary{
    "Queue length", report::Shape::table,
    with_description<QueueSummary>(
        {report::rank_field<QueueSummary>(&QueueSummary::rank),
         {"stream", &QueueSummary::stream, Unit::none, Role::key}},
        Unit::none,
        {{"full", &QueueSummary::full, Unit::ns}, {"full_share", &QueueSummary::full_share, Unit::share}})};
const report::Sheet<QueuePoint> kQueuePoints{"Queue length over time",
                                             report::Shape::curve,
                                             {report::rank_field<QueuePoint>(&QueuePoint::rank),
                                              {"stream", &QueuePoint::stream, Unit::none, Role::key},
                                              {"time", &QueuePoint::time, Unit::ns, Tag::of_one_run},
                                              {"length", &QueuePoint::length, Unit::count}}};

constexpr report::ParamSpec kQueueLengthParams[] = {
    {"limit", report::ParamSpec::Type::integer, "1024", "", "a queue this long is full: the host waits"}};

}  // namespace

std::map<std::int64_t, Lengths> queues_of(const trace::Trace& trace, const DeviceSpans& of) {
  std::map<std::int64_t, Lengths> queues;
  trace::AskedOnce is_queued(trace.strings, is_queued_launch);
  for (const DeviceSpan& span : of.spans) {
    // HTA takes a call linked to the first event of the file for one without a link.
    if (of.rank->events.source[span.row] == 0) continue;
    if (span.call == trace::kNoRow || !is_queued(of.rank->events.name[span.call])) continue;
    Lengths& changes = queues[span.stream];
    changes.push_back({span.launched, 1});
    changes.push_back({span.start, -1});
  }
  for (auto& [stream, changes] : queues) queue_lengths(changes);
  return queues;
}

constinit const FormParams queue_length_params = kQueueLengthParams;

report::Report queue_length(const Derived& derived, const report::Params& params) {
  const std::int64_t limit = params.integer("limit", 1024);
  std::vector<QueueSummary> summaries;
  std::vector<QueuePoint> points;
  for (const DeviceSpans& of : spans_of(derived, params)) {
    for (const auto& [stream, lengths] : queues_of(derived.trace(), of)) {
      std::vector<double> values;
      for (const auto& [time, length] : lengths) {
        points.push_back({of.rank->rank, stream, time, length});
        values.push_back(static_cast<double>(length));
      }
      const Time full = time_at(lengths, limit);
      summaries.push_back(
          {described(std::move(values)), of.rank->rank, stream, full, report::ratio(full, of.duration)});
    }
  }
  const bool several = derived.trace().several();
  report::Report report{
      "queue_length",
      {tabulate(kQueueSummary, summaries, several), tabulate(kQueuePoints, points, several)},
      {}};
  if (points.empty()) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

}  // namespace stepscope::analyze::hta
