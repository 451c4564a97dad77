// How fast copies and fills move data, summed over those that run at a time.
#include <algorithm>
#include <map>

#include "analyze/describe.h"
#include "analyze/drawing.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

/// A change of the rate of one kind of copy, bytes/s.
struct Point {
  Time time;
  double rate;
};

/// "Memset", "Memcpy HtoD", or "Memcpy Unknown".
std::string kind_of(std::string_view name) {
  constexpr std::size_t kKind = 11;
  if (name.starts_with("Memset")) return "Memset";
  return name.starts_with("Memcpy") ? std::string(name.substr(0, kKind)) : "Memcpy Unknown";
}

/// Sums of what runs at each change, by kind.
std::map<std::string, std::vector<Point>> rates_of(const trace::Trace& trace, const DeviceSpans& of,
                                                   bool compat) {
  const trace::ArgReader told(trace, *of.rank, "memory bandwidth (GB/s)"), bytes(trace, *of.rank, "bytes");
  std::map<std::string, std::vector<Point>> rates;
  for (const DeviceSpan& span : of.spans) {
    if (span.type != KernelType::memory) continue;
    const Time length =
        compat ? (span.end == span.start ? 1000 : span.end - span.start) : span.end - span.start;
    const auto moved = bytes.integer(span.row);
    if (!compat && (!moved || length <= 0)) continue;
    const double rate = compat ? told.real(span.row).value_or(0) * 1e9
                               : static_cast<double>(*moved) / static_cast<double>(length) * 1e9;
    auto& points = rates[kind_of(trace.name(*of.rank, span.row))];
    points.push_back({span.start - of.origin, rate});
    points.push_back({span.start - of.origin + length, -rate});
  }
  for (auto& [kind, points] : rates) {
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.time < b.time; });
    double rate = 0;
    for (Point& point : points) point.rate = rate += point.rate;
  }
  return rates;
}

constexpr const char* kNoCopyNote =
    "No copies or fills of a device are recorded, so there is no rate to show.";

constexpr report::ParamSpec kMemoryBandwidthParams[] = {kHtaCompat, kHtaLastStep};

}  // namespace

constinit const About memory_bandwidth_about = {kMemoryBandwidthParams, false};

report::Report memory_bandwidth(const Derived& derived, const report::Params& params) {
  report::Report report{"memory_bandwidth", {}, {}};
  report.tables.resize(2);
  Table &summary = report.tables[0], &series = report.tables[1];
  summary.title = "Memory bandwidth";
  series.title = "Memory bandwidth over time";
  series.shape = Shape::curve;
  DeviceColumns keys(summary, derived.trace(), params), points_keys(series, derived.trace(), params);
  auto& kind_column = summary.texts("kind");
  DescriptionColumns description(summary, Unit::bytes_per_s);
  auto& points_kind = series.texts("kind");
  auto& time = series.ints("time", Unit::ns, Role::key);
  auto& rate = series.reals("rate", Unit::bytes_per_s);
  for (const DeviceSpans& of : device_spans(derived, params)) {
    for (const auto& [kind, points] : rates_of(derived.trace(), of, params.flag("hta-compat"))) {
      std::vector<double> running;
      for (const Point& point : points) {
        points_keys.add(of);
        points_kind.push_back(kind);
        time.push_back(point.time);
        rate.push_back(point.rate);
        if (point.rate > 0) running.push_back(point.rate);
      }
      if (running.empty()) continue;
      keys.add(of);
      kind_column.push_back(kind);
      description.add(described(std::move(running)));
    }
  }
  if (series.rows() == 0) report.notes.emplace_back(kNoCopyNote);
  return report;
}

void draw_memory_bandwidth(const Derived& derived, const report::Params& params, Sketch& sketch) {
  constexpr double kGiga = 1e9;
  bool any = false;
  for (const DeviceSpans& of : device_spans(derived, params)) {
    if (of.rank != &sketch.rank()) continue;
    for (const auto& [kind, points] : rates_of(derived.trace(), of, params.flag("hta-compat"))) {
      const auto counter = sketch.counter(kind, "Memcpy BW", of.spans.front().row);
      for (const Point& point : points)
        sketch.drawing().points.push_back({point.time + of.origin + of.zero, point.rate / kGiga, counter});
      any = true;
    }
  }
  if (!any) sketch.notes.emplace_back(kNoCopyNote);
}

}  // namespace stepscope::analyze
