// How each device's time divides into compute, other work and idling, and how kinds of work overlap.
#include <array>
#include <map>
#include <string>

#include "analyze/idle/device_spans.h"
#include "analyze/list.h"
#include "report/statistics.h"

namespace stepscope::analyze {
namespace {

using report::ratio;
using report::Role;
using report::Shape;
using report::Table;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;
using timeline::Time;

/// From the first device event's start to the last one's end.
Interval hull_of(const IntervalSet& busy) {
  return busy.empty() ? Interval{} : Interval{busy.parts().front().begin, busy.parts().back().end};
}

Table breakdown(const Derived& derived, const report::Params& params,
                const std::vector<DeviceSpans>& devices) {
  Table table{"Temporal breakdown", Shape::table, {}};
  DeviceColumns keys(table, derived.trace(), params);
  auto& total = table.ints("total", Unit::ns);
  auto& compute = table.ints("compute", Unit::ns);
  auto& non_compute = table.ints("non_compute", Unit::ns);
  auto& idle = table.ints("idle", Unit::ns);
  auto& compute_share = table.reals("compute_share", Unit::share);
  auto& non_compute_share = table.reals("non_compute_share", Unit::share);
  auto& idle_share = table.reals("idle_share", Unit::share);
  for (const DeviceSpans& of : devices) {
    if (of.spans.empty()) continue;
    const IntervalSet busy = covered(of);
    const Time whole = hull_of(busy).length(), computing = covered_length(of, KernelType::computation);
    const Time idling = whole - covered_length(of), rest = whole - computing - idling;
    keys.add(of);
    total.push_back(whole);
    compute.push_back(computing);
    non_compute.push_back(rest);
    idle.push_back(idling);
    compute_share.push_back(ratio(computing, whole));
    non_compute_share.push_back(ratio(rest, whole));
    idle_share.push_back(ratio(idling, whole));
  }
  return table;
}

constexpr const char* kTypes = "Kernel types";
/// Which types of work run, a bit each.
constexpr unsigned kStates = 1U << std::size(kWorkTypes);

/// The time in which exactly the types of `state` run, a bit each.
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

/// `time_of`: by state.
template <class TimeOf>
Table types_table(TimeOf time_of) {
  Table table{kTypes, Shape::table, {}};
  auto& type = table.texts("type");
  auto& time = table.ints("time", Unit::ns);
  auto& share = table.reals("share", Unit::share, Role::share);
  Time whole = 0;
  for (unsigned state = 1; state < kStates; ++state) {
    if (time_of(state) == 0) continue;
    type.push_back(label_of(state));
    time.push_back(time_of(state));
    report::add_to(whole, time.back());
  }
  for (const Time length : time) share.push_back(ratio(length, whole));
  report::sort_and_cut(table, "time", 0);
  return table;
}

Table types(const std::vector<DeviceSpans>& devices, bool memory) {
  std::array<Time, kStates> times{};
  for (const DeviceSpans& of : devices) {
    std::vector<IntervalSet> sets;
    for (const KernelType type : kWorkTypes)
      if (memory || type != KernelType::memory) sets.push_back(covered(of, type));
    for (unsigned state = 1; state < 1U << sets.size(); ++state)
      report::add_to(times[state], time_in(sets, state));
  }
  return types_table([&](unsigned state) { return times[state]; });
}

/// Sums the rows of ranks by type.
void join_types(report::Report& report) {
  for (Table& table : report.tables) {
    if (table.title != kTypes) continue;
    const auto& labels = std::get<report::Texts>(table.columns[0].values);
    const auto& lengths = std::get<report::Ints>(table.columns[1].values);
    std::map<std::string, Time> times;
    for (std::size_t row = 0; row < labels.size(); ++row) report::add_to(times[labels[row]], lengths[row]);
    table = types_table([&](unsigned state) {
      const auto known = times.find(label_of(state));
      return known == times.end() ? 0 : known->second;
    });
  }
}

Table overlap(const Derived& derived, const report::Params& params, const std::vector<DeviceSpans>& devices) {
  Table table{"Communication behind computation", Shape::table, {}};
  DeviceColumns keys(table, derived.trace(), params);
  auto& all = table.ints("communication", Unit::ns);
  auto& hidden = table.ints("hidden", Unit::ns);
  auto& share = table.reals("hidden_share", Unit::share, Role::share);
  for (const DeviceSpans& of : devices) {
    const IntervalSet communication = covered(of, KernelType::communication);
    const Time length = communication.length();
    const Time behind = intersect(communication, covered(of, KernelType::computation)).length();
    keys.add(of);
    all.push_back(length);
    hidden.push_back(behind);
    share.push_back(ratio(behind, length));
  }
  return table;
}

constexpr report::ParamSpec kTemporalBreakdownParams[] = {
    {"no-memory", report::ParamSpec::Type::flag, "", "", "leave copies and fills out of the kernel types"},
    kHtaCompat,
    kHtaLastStep};

}  // namespace

constinit const About temporal_breakdown_about = {kTemporalBreakdownParams, true, Needs::one_rank,
                                                  join_types};

report::Report temporal_breakdown(const Derived& derived, const report::Params& params) {
  const std::vector<DeviceSpans> devices = device_spans(derived, params);
  report::Report report{"temporal_breakdown", {}, {}};
  report.tables.push_back(breakdown(derived, params, devices));
  report.tables.push_back(types(devices, !params.flag("no-memory")));
  report.tables.push_back(overlap(derived, params, devices));
  if (report.tables[0].rows() == 0) report.notes.emplace_back(kNoDeviceNote);
  return report;
}

}  // namespace stepscope::analyze
