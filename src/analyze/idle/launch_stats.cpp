// Each launch: how long the call took, how long its work took, and how late that began.
#include <algorithm>

#include "analyze/hta/rows.h"
#include "analyze/idle/device_spans.h"
#include "analyze/list.h"

namespace stepscope::analyze {
namespace {

using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Time;

struct Cutoffs {
  Time runtime, delay;
};

/// How many launches are conspicuous, and how.
struct Counts {
  std::int64_t launches = 0, short_kernels = 0, long_calls = 0, late = 0;
  void add(Time call, Time device, Time delay, const Cutoffs& cutoffs) {
    ++launches;
    short_kernels += call <= cutoffs.runtime && device < call;
    long_calls += call > cutoffs.runtime;
    late += delay > cutoffs.delay;
  }
};

constexpr report::ParamSpec kLaunchStatsParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out"},
    {"runtime-cutoff", report::ParamSpec::Type::integer, "50", "",
     "a call longer than this many microseconds is long"},
    {"delay-cutoff", report::ParamSpec::Type::integer, "100", "",
     "work that begins more microseconds behind its call is late"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About launch_stats_about = {kLaunchStatsParams, false};

report::Report launch_stats(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool compat = params.flag("hta-compat"), memory = !params.flag("no-memory");
  const Cutoffs cutoffs{params.integer("runtime-cutoff", 50) * 1000,
                        params.integer("delay-cutoff", 100) * 1000};
  report::Report report{"launch_stats", {}, {}};
  report.tables.resize(2);
  Table &summary = report.tables[0], &table = report.tables[1];
  summary.title = "Conspicuous launches";
  table.title = "Launches";
  DeviceColumns keys(summary, trace, params), row_keys(table, trace, params);
  auto& launches = summary.ints("launches", Unit::count);
  auto& short_kernels = summary.ints("short_kernels", Unit::count);
  auto& long_calls = summary.ints("long_calls", Unit::count);
  auto& late = summary.ints("late", Unit::count);
  auto& correlation = table.ints("correlation", Unit::none, Role::key);
  auto& call = table.ints("call", Unit::ns);
  auto& device = table.ints("device_time", Unit::ns);
  auto& delay = table.ints("delay", Unit::ns);
  for (const DeviceSpans& of : device_spans(derived, params)) {
    Counts counts;
    for (const DeviceSpan& span : of.spans) {
      if (span.call == trace::kNoRow) continue;
      if (compat ? !hta::is_counted_launch(trace.name(*of.rank, span.call), memory)
                 : !memory && span.type == KernelType::memory)
        continue;
      const Time called = span.call_end - span.launched, ran = span.end - span.start;
      const Time behind = std::max<Time>(0, span.start - span.call_end);
      counts.add(called, ran, behind, cutoffs);
      row_keys.add(of);
      correlation.push_back(span.correlation);
      call.push_back(called);
      device.push_back(ran);
      delay.push_back(behind);
    }
    keys.add(of);
    launches.push_back(counts.launches);
    short_kernels.push_back(counts.short_kernels);
    long_calls.push_back(counts.long_calls);
    late.push_back(counts.late);
  }
  if (table.rows() == 0) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

}  // namespace stepscope::analyze
