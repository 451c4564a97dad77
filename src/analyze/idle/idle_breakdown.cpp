// The gaps between the kernels of each stream: did the host, the device, or something else keep the next one
// waiting?
#include <algorithm>
#include <array>
#include <map>

#include "analyze/describe.h"
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

constexpr std::string_view kCategories[] = {"host_wait", "kernel_wait", "other"};
using Gaps = std::array<std::vector<double>, std::size(kCategories)>;

struct Stream {
  std::int64_t id = 0;
  Gaps gaps;
};

/// `spans` of one stream by start. By default a gap begins where everything before has ended; HTA takes the
/// end of the event before.
Stream gaps_of(std::int64_t id, std::vector<const DeviceSpan*> spans, Time kernel_delay, bool compat) {
  Stream stream{id, {}};
  std::stable_sort(spans.begin(), spans.end(),
                   [](const DeviceSpan* a, const DeviceSpan* b) { return a->start < b->start; });
  Time before = spans.front()->end;
  for (std::size_t i = 1; i < spans.size(); ++i) {
    const DeviceSpan& span = *spans[i];
    const Time gap = span.start - before;
    if (compat || gap > 0) {
      const bool late = span.launched != trace::kNoTime && span.launched > before;
      stream.gaps[late ? 0 : gap < kernel_delay ? 1 : 2].push_back(static_cast<double>(gap));
    }
    before = compat ? span.end : std::max(before, span.end);
  }
  return stream;
}

std::vector<Stream> streams_of(const DeviceSpans& of, Time kernel_delay, bool compat) {
  std::vector<std::int64_t> order;
  std::map<std::int64_t, std::vector<const DeviceSpan*>> by_stream;
  for (const DeviceSpan& span : of.spans) {
    if (!span.works) continue;
    auto& spans = by_stream[span.stream];
    if (spans.empty()) order.push_back(span.stream);
    spans.push_back(&span);
  }
  std::vector<Stream> streams;
  for (const std::int64_t id : order)
    streams.push_back(gaps_of(id, std::move(by_stream[id]), kernel_delay, compat));
  return streams;
}

constexpr report::ParamSpec kIdleBreakdownParams[] = {
    {"kernel-delay", report::ParamSpec::Type::integer, "30", "",
     "gaps shorter than this many microseconds are the device's own (kernel_wait)"},
    kHtaCompat,
    kHtaLastStep};

double total_of(const Stream& stream) {
  double total = 0;
  for (const auto& gaps : stream.gaps)
    for (const double gap : gaps) total += gap;
  return total;
}

}  // namespace

constinit const About idle_breakdown_about = {kIdleBreakdownParams, false};

report::Report idle_breakdown(const Derived& derived, const report::Params& params) {
  const bool compat = params.flag("hta-compat");
  const Time kernel_delay = params.integer("kernel-delay", 30) * 1000;
  report::Report report{"idle_breakdown", {}, {}};
  Table& table = report.tables.emplace_back(Table{"Gaps by cause", Shape::table, {}});
  DeviceColumns keys(table, derived.trace(), params);
  auto& stream_column = table.ints("stream", Unit::none, Role::key);
  auto& category = table.texts("category");
  auto& idle = table.reals("idle", Unit::ns);
  auto& share = table.reals("share", Unit::share, Role::share);
  DescriptionColumns description(table, Unit::ns);
  for (const DeviceSpans& of : device_spans(derived, params)) {
    for (const Stream& stream : streams_of(of, kernel_delay, compat)) {
      const double total = total_of(stream);
      for (std::size_t c = 0; c < std::size(kCategories); ++c) {
        if (stream.gaps[c].empty() && !(compat && c == 2)) continue;
        double sum = 0;
        for (const double gap : stream.gaps[c]) sum += gap;
        keys.add(of);
        stream_column.push_back(stream.id);
        category.emplace_back(kCategories[c]);
        idle.push_back(sum);
        share.push_back(total > 0 ? sum / total : report::kNoReal);
        description.add(described(stream.gaps[c]));
      }
    }
  }
  if (table.rows() == 0) report.notes.emplace_back("No stream has two device events to compare.");
  return report;
}

}  // namespace stepscope::analyze
