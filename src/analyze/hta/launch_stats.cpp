// Each launch: how long the call took, how long its work took, and how late the work began.
#include <algorithm>

#include "analyze/hta/spans.h"
#include "analyze/list.h"
#include "report/sheet.h"

namespace stepscope::analyze::hta {
namespace {

using report::Role;
using report::Tag;
using report::Unit;

struct Cutoffs {
  Time runtime, delay;
};

struct Launch {
  std::int64_t rank, correlation;
  Time call, device, delay;  ///< ns
};

/// Numbers of conspicuous launches, by kind.
struct Counts {
  std::int64_t rank;
  std::int64_t launches = 0, short_kernels = 0, long_calls = 0, late = 0;
  void add(const Launch& of, const Cutoffs& cutoffs) {
    ++launches;
    short_kernels += of.call <= cutoffs.runtime && of.device < of.call;
    long_calls += of.call > cutoffs.runtime;
    late += of.delay > cutoffs.delay;
  }
};

const report::Sheet<Counts> kCounts{"Conspicuous launches",
                                    report::Shape::table,
                                    {report::rank_field<Counts>(&Counts::rank),
                                     {"launches", &Counts::launches, Unit::count},
                                     {"short_kernels", &Counts::short_kernels, Unit::count},
                                     {"long_calls", &Counts::long_calls, Unit::count},
                                     {"late", &Counts::late, Unit::count}}};
const report::Sheet<Launch> kLaunches{"Launches",
                                      report::Shape::table,
                                      {report::rank_field<Launch>(&Launch::rank),
                                       {"correlation", &Launch::correlation, Unit::none, Tag::of_one_run},
                                       {"call", &Launch::call, Unit::ns},
                                       {"device_time", &Launch::device, Unit::ns},
                                       {"delay", &Launch::delay, Unit::ns}}};

constexpr report::ParamSpec kLaunchStatsParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out"},
    {"runtime-cutoff", report::ParamSpec::Type::integer, "50", "",
     "calls over this many microseconds count as long"},
    {"delay-cutoff", report::ParamSpec::Type::integer, "100", "",
     "work that begins more than this many microseconds after its call is late"}};

}  // namespace

constinit const FormParams launch_stats_params = kLaunchStatsParams;

report::Report launch_stats(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool memory = !params.flag("no-memory");
  const Cutoffs cutoffs{params.integer("runtime-cutoff", 50) * 1000,
                        params.integer("delay-cutoff", 100) * 1000};
  std::vector<Counts> counts;
  std::vector<Launch> launches;
  for (const DeviceSpans& of : spans_of(derived, params)) {
    counts.push_back({of.rank->rank});
    for (const DeviceSpan& span : of.spans) {
      if (span.call == trace::kNoRow || !is_counted_launch(trace.name(*of.rank, span.call), memory)) continue;
      launches.push_back({of.rank->rank, span.correlation, span.call_end - span.launched,
                          span.end - span.start, std::max<Time>(0, span.start - span.call_end)});
      counts.back().add(launches.back(), cutoffs);
    }
  }
  report::Report report{
      "launch_stats",
      {tabulate(kCounts, counts, trace.several()), tabulate(kLaunches, launches, trace.several())},
      {}};
  if (launches.empty()) report.notes.emplace_back(kNoLaunchNote);
  return report;
}

}  // namespace stepscope::analyze::hta
