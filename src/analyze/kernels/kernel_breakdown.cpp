// Device time by kernel name within each type of work, with what single calls are like.
#include <algorithm>

#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "analyze/named_durations.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Unit;

std::vector<NamedDurations> rows_of(const trace::Trace& trace, const DeviceSpans& of, KernelType type) {
  DurationsByName durations(trace.strings);
  for (const DeviceSpan& span : of.spans)
    if (span.type == type) durations.add(of.rank->events.name[span.row], span.end - span.start);
  return durations.rows();
}

constexpr report::ParamSpec kKernelBreakdownParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out"},
    {"duration-ratio", report::ParamSpec::Type::percentage, "80", "",
     "with --hta-compat: the percentage of the time that keeps its names"},
    {"num-kernels", report::ParamSpec::Type::integer, "10", "",
     "with --hta-compat: the most names per type and rank; what is beyond is called others"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About kernel_breakdown_about = {kKernelBreakdownParams, false};

report::Report kernel_breakdown(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool compat = params.flag("hta-compat"), memory = !params.flag("no-memory");
  const double share = params.share("duration-ratio", 0.8);
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(0, params.integer("num-kernels", 10)));
  report::Report report{"kernel_breakdown", {}, {}};
  report::Table& table = report.tables.emplace_back(report::Table{"Kernels by type", Shape::table, {}});
  DeviceColumns keys(table, trace, params);
  auto& type_column = table.texts("type");
  NamedDurationColumns durations(table);
  for (const DeviceSpans& of : device_spans(derived, params)) {
    for (const KernelType type : kWorkTypes) {
      if (type == KernelType::memory && !memory) continue;
      std::vector<NamedDurations> rows = rows_of(trace, of, type);
      if (compat) rows = with_others(std::move(rows), share, most);
      for (const NamedDurations& row : rows) {
        keys.add(of);
        type_column.emplace_back(name_of(type));
        durations.add(row);
      }
    }
  }
  if (table.rows() == 0) report.notes.emplace_back(kNoDeviceNote);
  return report;
}

}  // namespace stepscope::analyze
