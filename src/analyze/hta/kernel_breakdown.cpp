// Device time by kernel name within each type of work, with statistics of single calls.
#include "analyze/hta/others.h"
#include "analyze/hta/spans.h"
#include "analyze/list.h"

namespace stepscope::analyze::hta {
namespace {

struct Kernel : NamedDurations {
  std::int64_t rank;
  KernelType type;
};

const report::Sheet<Kernel> kKernels{"Kernels by type", report::Shape::table,
                                     with_durations<Kernel>({report::rank_field<Kernel>(&Kernel::rank),
                                                             {"type", report::named<&Kernel::type>}})};

constexpr report::ParamSpec kKernelBreakdownParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out"},
    {"duration-ratio", report::ParamSpec::Type::percentage, "80", "",
     "keep names for this percentage of the time"},
    {"num-kernels", report::ParamSpec::Type::integer, "10", "",
     "max names per type and rank; the rest becomes others"}};

}  // namespace

constinit const FormParams kernel_breakdown_params = kKernelBreakdownParams;

report::Report kernel_breakdown(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const bool memory = !params.flag("no-memory");
  std::vector<Kernel> rows;
  for (const DeviceSpans& of : spans_of(derived, params)) {
    for (const KernelType type : kWorkTypes) {
      if (type == KernelType::memory && !memory) continue;
      DurationsByName durations(trace.strings);
      for (const DeviceSpan& span : of.spans)
        if (span.type == type) durations.add(of.rank->events.name[span.row], span.end - span.start);
      for (NamedDurations& row : with_others(durations.rows(), params, 10))
        rows.push_back({std::move(row), of.rank->rank, type});
    }
  }
  report::Report report{"kernel_breakdown", {tabulate(kKernels, rows, trace.several())}, {}};
  if (rows.empty()) report.notes.emplace_back(kNoDeviceNote);
  return report;
}

}  // namespace stepscope::analyze::hta
