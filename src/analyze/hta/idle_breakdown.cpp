// Gaps between the kernels of each stream, by what delayed the next kernel: host, device or something else.
#include <algorithm>
#include <array>
#include <map>

#include "analyze/describe.h"
#include "analyze/hta/spans.h"
#include "analyze/list.h"
#include "report/statistics.h"

namespace stepscope::analyze::hta {
namespace {

using report::Role;
using report::Unit;

constexpr std::string_view kIdleCategories[] = {"host_wait", "kernel_wait", "other"};
using Gaps = std::array<std::vector<double>, std::size(kIdleCategories)>;

struct StreamGaps : Description {
  std::int64_t rank, stream;
  std::string_view category;
  double idle;   ///< sum of the gaps, ns
  double share;  ///< of the sum of all the stream's gaps
};

/// `spans`: events of one stream. A gap begins at the end of the previous event by start, even if an earlier
/// event still runs.
Gaps gaps_of(std::vector<const DeviceSpan*> spans, Time kernel_delay) {
  Gaps gaps;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const DeviceSpan* a, const DeviceSpan* b) { return a->start < b->start; });
  for (std::size_t i = 1; i < spans.size(); ++i) {
    const DeviceSpan& span = *spans[i];
    const Time before = spans[i - 1]->end, gap = span.start - before;
    const bool late = span.launched != trace::kNoTime && span.launched > before;
    gaps[late ? 0 : gap < kernel_delay ? 1 : 2].push_back(static_cast<double>(gap));
  }
  return gaps;
}

void add_gaps(std::vector<StreamGaps>& out, const DeviceSpans& of, Time kernel_delay) {
  std::vector<std::int64_t> order;
  std::map<std::int64_t, std::vector<const DeviceSpan*>> by_stream;
  for (const DeviceSpan& span : of.spans) {
    if (!span.works) continue;
    auto& spans = by_stream[span.stream];
    if (spans.empty()) order.push_back(span.stream);
    spans.push_back(&span);
  }
  for (const std::int64_t stream : order) {
    Gaps gaps = gaps_of(std::move(by_stream[stream]), kernel_delay);
    double total = 0, sums[std::size(kIdleCategories)] = {};
    for (std::size_t c = 0; c < std::size(kIdleCategories); ++c)
      for (const double gap : gaps[c]) {
        total += gap;
        sums[c] += gap;
      }
    for (std::size_t c = 0; c < std::size(kIdleCategories); ++c) {
      if (gaps[c].empty() && c != 2) continue;
      out.push_back({described(std::move(gaps[c])), of.rank->rank, stream, kIdleCategories[c], sums[c],
                     total > 0 ? sums[c] / total : report::kNoReal});
    }
  }
}

const report::Sheet<StreamGaps> kGaps{
    "Gaps by cause", report::Shape::table,
    with_description<StreamGaps>({report::rank_field<StreamGaps>(&StreamGaps::rank),
                                  {"stream", &StreamGaps::stream, Unit::none, Role::key},
                                  {"category", &StreamGaps::category},
                                  {"idle", &StreamGaps::idle, Unit::ns},
                                  {"share", &StreamGaps::share, Unit::share, Role::share}},
                                 Unit::ns)};

constexpr report::ParamSpec kIdleBreakdownParams[] = {
    {"kernel-delay", report::ParamSpec::Type::integer, "30", "",
     "gaps shorter than this many microseconds count as the device's own (kernel_wait)"}};

}  // namespace

constinit const FormParams idle_breakdown_params = kIdleBreakdownParams;

report::Report idle_breakdown(const Derived& derived, const report::Params& params) {
  const Time kernel_delay = params.integer("kernel-delay", 30) * 1000;
  std::vector<StreamGaps> rows;
  for (const DeviceSpans& of : spans_of(derived, params)) add_gaps(rows, of, kernel_delay);
  report::Report report{"idle_breakdown", {tabulate(kGaps, rows, derived.trace().several())}, {}};
  if (rows.empty()) report.notes.emplace_back("No stream has two device events, so there are no gaps.");
  return report;
}

}  // namespace stepscope::analyze::hta
