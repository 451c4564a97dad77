// How fast copies and fills move data, summed over those that run at the same time.
#include "analyze/describe.h"
#include "analyze/hta/series.h"
#include "analyze/list.h"

namespace stepscope::analyze::hta {
namespace {

using report::Role;
using report::Tag;
using report::Unit;

struct CopySummary : Description {
  std::int64_t rank;
  std::string kind;
};
struct CopyPoint {
  std::int64_t rank;
  std::string kind;
  Time time;
  double rate;
};

const report::Sheet<CopySummary> kCopySummary{
    "Memory bandwidth", report::Shape::table,
    with_description<CopySummary>(
        {report::rank_field<CopySummary>(&CopySummary::rank), {"kind", &CopySummary::kind}},
        Unit::bytes_per_s)};
const report::Sheet<CopyPoint> kCopyPoints{"Memory bandwidth over time",
                                           report::Shape::curve,
                                           {report::rank_field<CopyPoint>(&CopyPoint::rank),
                                            {"kind", &CopyPoint::kind},
                                            {"time", &CopyPoint::time, Unit::ns, Tag::of_one_run},
                                            {"rate", &CopyPoint::rate, Unit::bytes_per_s}}};

}  // namespace

std::map<std::string, Rates> rates_of(const trace::Trace& trace, const DeviceSpans& of) {
  const trace::ArgReader told(trace, *of.rank, "memory bandwidth (GB/s)");
  std::map<std::string, Rates> rates;
  for (const DeviceSpan& span : of.spans) {
    if (span.type != KernelType::memory) continue;
    const double rate = told.real(span.row).value_or(0) * 1e9;
    Rates& changes = rates[copy_kind(trace.name(*of.rank, span.row))];
    changes.push_back({span.start, rate});
    changes.push_back({span.end == span.start ? span.start + 1000 : span.end, -rate});
  }
  for (auto& [kind, changes] : rates) running_rates(changes);
  return rates;
}

constinit const FormParams memory_bandwidth_params = {};

report::Report memory_bandwidth(const Derived& derived, const report::Params& params) {
  std::vector<CopySummary> summaries;
  std::vector<CopyPoint> points;
  for (const DeviceSpans& of : spans_of(derived, params)) {
    for (const auto& [kind, rates] : rates_of(derived.trace(), of)) {
      std::vector<double> running;
      for (const auto& [time, rate] : rates) {
        points.push_back({of.rank->rank, kind, time, rate});
        if (rate > 0) running.push_back(rate);
      }
      if (!running.empty()) summaries.push_back({described(std::move(running)), of.rank->rank, kind});
    }
  }
  const bool several = derived.trace().several();
  report::Report report{"memory_bandwidth",
                        {tabulate(kCopySummary, summaries, several), tabulate(kCopyPoints, points, several)},
                        {}};
  if (points.empty()) report.notes.emplace_back(kNoCopyNote);
  return report;
}

}  // namespace stepscope::analyze::hta
