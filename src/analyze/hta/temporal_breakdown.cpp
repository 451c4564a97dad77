// How the time of a rank's devices divides into compute, other work and idling, and how kinds of work
// overlap.
#include <algorithm>
#include <array>
#include <string>

#include "analyze/hta/spans.h"
#include "analyze/list.h"
#include "report/sheet.h"
#include "report/statistics.h"

namespace stepscope::analyze::hta {
namespace {

using report::ratio;
using report::Role;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;

/// Breakdown of one rank. Times in ns; shares are of `total`.
struct Breakdown {
  std::int64_t rank;
  Time total;  ///< from the first device event's start to the last device event's end
  Time compute, non_compute, idle;
  double compute_share, non_compute_share, idle_share;
};

/// Over all ranks: the time in which exactly these types run.
struct TypeTime {
  std::string type;
  Time time;
  double share;  ///< of the sum over all rows
};

/// Communication, and how much of it computation hides, ns.
struct Overlap {
  std::int64_t rank;
  Time communication, hidden;
  double hidden_share;
};

/// From the first device event's start to the last device event's end, also of events that last 0 or, once
/// rounded, -1 us.
Time whole_of(const DeviceSpans& of) {
  if (of.spans.empty()) return 0;
  const auto first = std::ranges::min(of.spans, {}, &DeviceSpan::start).start;
  return std::max<Time>(0, std::ranges::max(of.spans, {}, &DeviceSpan::end).end - first);
}

Breakdown breakdown_of(const DeviceSpans& of) {
  const Time whole = whole_of(of), computing = covered_length(of, KernelType::computation);
  const Time idling = whole - covered_length(of), rest = whole - computing - idling;
  return {of.rank->rank,       whole, computing, rest, idling, ratio(computing, whole), ratio(rest, whole),
          ratio(idling, whole)};
}

Overlap overlap_of(const DeviceSpans& of) {
  const IntervalSet communication = covered(of, KernelType::communication);
  const Time behind = intersect(communication, covered(of, KernelType::computation)).length();
  return {of.rank->rank, communication.length(), behind, ratio(behind, communication.length())};
}

/// Number of states. A state is the set of work types that run, one bit each.
constexpr unsigned kStates = 1U << std::size(kWorkTypes);

/// The time in which exactly the types of `state` run.
Time time_in(const std::vector<IntervalSet>& sets, unsigned state) {
  IntervalSet running;
  bool first = true;
  for (std::size_t t = 0; t < sets.size(); ++t) {
    if ((state >> t & 1U) == 0) continue;
    running = first ? sets[t] : intersect(running, sets[t]);
    first = false;
  }
  for (std::size_t t = 0; t < sets.size(); ++t)
    if ((state >> t & 1U) == 0) running = subtract(running, sets[t]);
  return running.length();
}

std::string label_of(unsigned state) {
  std::string label;
  for (std::size_t t = 0; t < std::size(kWorkTypes); ++t)
    if ((state >> t & 1U) != 0)
      label += (label.empty() ? "" : " overlapping ") + std::string(name_of(kWorkTypes[t]));
  return label;
}

std::vector<TypeTime> types_of(const std::vector<DeviceSpans>& ranks, bool memory) {
  std::array<Time, kStates> times{};
  for (const DeviceSpans& of : ranks) {
    std::vector<IntervalSet> sets;
    for (const KernelType type : kWorkTypes)
      if (memory || type != KernelType::memory) sets.push_back(covered(of, type));
    for (unsigned state = 1; state < 1U << sets.size(); ++state)
      report::add_to(times[state], time_in(sets, state));
  }
  Time whole = 0;
  for (const Time time : times) report::add_to(whole, time);
  std::vector<TypeTime> types;
  for (unsigned state = 1; state < kStates; ++state)
    if (times[state] != 0) types.push_back({label_of(state), times[state], ratio(times[state], whole)});
  std::stable_sort(types.begin(), types.end(),
                   [](const TypeTime& a, const TypeTime& b) { return a.time > b.time; });
  return types;
}

const report::Sheet<Breakdown> kBreakdown{"Temporal breakdown",
                                          report::Shape::table,
                                          {report::rank_field<Breakdown>(&Breakdown::rank),
                                           {"total", &Breakdown::total, Unit::ns},
                                           {"compute", &Breakdown::compute, Unit::ns},
                                           {"non_compute", &Breakdown::non_compute, Unit::ns},
                                           {"idle", &Breakdown::idle, Unit::ns},
                                           {"compute_share", &Breakdown::compute_share, Unit::share},
                                           {"non_compute_share", &Breakdown::non_compute_share, Unit::share},
                                           {"idle_share", &Breakdown::idle_share, Unit::share}}};
const report::Sheet<TypeTime> kTypes{"Kernel types",
                                     report::Shape::table,
                                     {{"type", &TypeTime::type},
                                      {"time", &TypeTime::time, Unit::ns},
                                      {"share", &TypeTime::share, Unit::share, Role::share}}};
const report::Sheet<Overlap> kOverlap{"Communication behind computation",
                                      report::Shape::table,
                                      {report::rank_field<Overlap>(&Overlap::rank),
                                       {"communication", &Overlap::communication, Unit::ns},
                                       {"hidden", &Overlap::hidden, Unit::ns},
                                       {"hidden_share", &Overlap::hidden_share, Unit::share, Role::share}}};

constexpr report::ParamSpec kTemporalBreakdownParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out of the kernel types"}};

}  // namespace

constinit const FormParams temporal_breakdown_params = kTemporalBreakdownParams;

report::Report temporal_breakdown(const Derived& derived, const report::Params& params) {
  const std::vector<DeviceSpans>& ranks = spans_of(derived, params);
  const bool several = derived.trace().several();
  std::vector<Breakdown> breakdowns;
  std::vector<Overlap> overlaps;
  for (const DeviceSpans& of : ranks) {
    if (!of.spans.empty()) breakdowns.push_back(breakdown_of(of));
    overlaps.push_back(overlap_of(of));
  }
  report::Report report{"temporal_breakdown",
                        {tabulate(kBreakdown, breakdowns, several),
                         tabulate(kTypes, types_of(ranks, !params.flag("no-memory")), several),
                         tabulate(kOverlap, overlaps, several)},
                        {}};
  if (breakdowns.empty()) report.notes.emplace_back(kNoDeviceNote);
  return report;
}

}  // namespace stepscope::analyze::hta
