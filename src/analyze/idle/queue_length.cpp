// How much launched work waits on each stream, over time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/describe.h"
#include "analyze/drawing.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

/// A change of a queue, and its length then.
struct Point {
  Time time;
  std::int64_t length;
};

/// By stream, in the order of their ids. At equal times launches come first.
std::map<std::int64_t, std::vector<Point>> queues_of(const trace::Trace& trace, const DeviceSpans& of,
                                                     bool compat) {
  std::map<std::int64_t, std::vector<Point>> queues;
  for (const DeviceSpan& span : of.spans) {
    if (span.call == trace::kNoRow) continue;
    if (compat && !hta::is_queued_launch(trace.name(*of.rank, span.call))) continue;
    queues[span.stream].push_back({span.launched - of.origin, 1});
    queues[span.stream].push_back({span.start - of.origin, -1});
  }
  for (auto& [stream, points] : queues) {
    std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
      return a.time != b.time ? a.time < b.time : a.length > b.length;
    });
    std::int64_t length = 0;
    for (Point& point : points) point.length = length += point.length;
  }
  return queues;
}

/// Time in which at least `limit` wait.
Time time_at(const std::vector<Point>& points, std::int64_t limit) {
  Time time = 0;
  for (std::size_t i = 0; i + 1 < points.size(); ++i)
    if (points[i].length >= limit) report::add_to(time, points[i + 1].time - points[i].time);
  return time;
}

constexpr report::ParamSpec kQueueLengthParams[] = {
    {"limit", report::ParamSpec::Type::integer, "1024", "", "a queue this long is full: the host waits"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About queue_length_about = {kQueueLengthParams, false};

report::Report queue_length(const Derived& derived, const report::Params& params) {
  const bool compat = params.flag("hta-compat");
  const std::int64_t limit = params.integer("limit", 1024);
  report::Report report{"queue_length", {}, {}};
  report.tables.resize(2);
  Table &summary = report.tables[0], &series = report.tables[1];
  summary.title = "Queue length";
  series.title = "Queue length over time";
  series.shape = Shape::curve;
  DeviceColumns keys(summary, derived.trace(), params), points_keys(series, derived.trace(), params);
  auto& stream_column = summary.ints("stream", Unit::none, Role::key);
  DescriptionColumns description(summary, Unit::none);
  auto& full = summary.ints("full", Unit::ns);
  auto& full_share = summary.reals("full_share", Unit::share);
  auto& points_stream = series.ints("stream", Unit::none, Role::key);
  auto& time = series.ints("time", Unit::ns, Role::key);
  auto& length = series.ints("length", Unit::count);
  for (const DeviceSpans& of : device_spans(derived, params)) {
    for (const auto& [stream, points] : queues_of(derived.trace(), of, compat)) {
      std::vector<double> lengths;
      for (const Point& point : points) {
        points_keys.add(of);
        points_stream.push_back(stream);
        time.push_back(point.time);
        length.push_back(point.length);
        lengths.push_back(static_cast<double>(point.length));
      }
      keys.add(of);
      stream_column.push_back(stream);
      description.add(described(std::move(lengths)));
      full.push_back(time_at(points, limit));
      full_share.push_back(report::ratio(full.back(), of.duration));
    }
  }
  if (summary.rows() == 0) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

void draw_queue_length(const Derived& derived, const report::Params& params, Sketch& sketch) {
  const bool compat = params.flag("hta-compat");
  bool any = false;
  for (const DeviceSpans& of : device_spans(derived, params)) {
    if (of.rank != &sketch.rank()) continue;
    for (const auto& [stream, points] : queues_of(derived.trace(), of, compat)) {
      const std::int64_t id = stream;
      const auto on_stream = [&](const DeviceSpan& span) { return span.stream == id; };
      const trace::Row row = std::find_if(of.spans.begin(), of.spans.end(), on_stream)->row;
      const auto counter =
          sketch.counter(fmt::format("Queue Length (stream {})", stream), "Queue Length", row);
      for (const Point& point : points)
        sketch.drawing().points.push_back(
            {point.time + of.origin + of.zero, static_cast<double>(point.length), counter});
      any = true;
    }
  }
  if (!any) sketch.notes.emplace_back(kNoLaunchNote);
}

}  // namespace stepscope::analyze
