#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/roles.h"
#include "report/sheet.h"

namespace stepscope::analyze::tb {
namespace {

using report::Shape;
using report::Unit;
using timeline::Interval;
using timeline::IntervalSet;

/// External ids of host events named like a collective; kernels with these ids count as communication.
std::vector<std::int64_t> collective_ids(const Events& events, const Ids& ids) {
  std::vector<std::int64_t> found;
  for (const Row row : events.order) {
    const Type type = events.type[row];
    if ((type == Type::op || type == Type::python || type == Type::annotation) && events.is(row, kCollective))
      found.push_back(ids.external(row));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// kOther for events without a role.
Role role_of(const Events& events, Row row) {
  switch (events.type[row]) {
    case Type::kernel:
      return kKernel;
    case Type::memcpy:
      return kMemcpy;
    case Type::memset:
      return kMemset;
    case Type::runtime:
      return kRuntime;
    case Type::op:
    case Type::annotation:
      if (events.is(row, kDataLoading)) return kDataLoader;
      [[fallthrough]];
    case Type::python:
      return events.is(row, kCollective) ? kCommunication : kCpuExec;
    default:
      return kOther;
  }
}

std::array<IntervalSet, kOther> role_sets(const Events& events) {
  const Ids ids(events);
  const std::vector<std::int64_t> collectives = collective_ids(events, ids);
  std::array<Column<Interval>, kOther> intervals;
  for (const Row row : events.order) {
    Role role = role_of(events, row);
    if (role == kOther) continue;
    if (role == kKernel && std::binary_search(collectives.begin(), collectives.end(), ids.external(row)))
      role = kCommunication;
    intervals[role].push_back(events.span(row));
  }
  std::array<IntervalSet, kOther> sets;
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = IntervalSet::of(std::move(intervals[i]));
  return sets;
}

/// Time of each role within the steps. If no time is left, the plugin behaves as if no role had been counted
/// yet: the next role gets all its time, and the rest starts again from the whole steps.
std::vector<IntervalSet> role_parts(const Events& events, const StepWindows& windows) {
  Column<Interval> spans;
  for (const StepWindow& step : windows.steps) spans.push_back(step.span);
  const IntervalSet steps = IntervalSet::of(std::move(spans));
  std::vector<IntervalSet> parts;
  IntervalSet left;
  for (const IntervalSet& set : role_sets(events)) {
    const bool start_over = left.empty();
    parts.push_back(start_over ? set : intersect(left, set));
    left = subtract(start_over ? steps : left, set);
  }
  parts.push_back(std::move(left));
  return parts;
}

/// Nanoseconds of a step.
struct StepCosts {
  std::int64_t rank;
  std::string step;
  Costs costs;
};

/// One role in the average step.
struct RoleTime {
  std::string_view role;
  std::int64_t time;
  double share;
};

template <std::size_t role>
std::int64_t cost(const StepCosts& row) {
  return row.costs[role];
}

template <std::size_t... role>
report::Sheet<StepCosts> step_sheet(std::index_sequence<role...> /*roles*/) {
  return {
      "Step time as the TensorBoard plugin counts it",
      Shape::bars,
      {report::rank_field<StepCosts>(&StepCosts::rank),
       {"step", &StepCosts::step, report::Tag::of_one_run},
       {kRoleNames[role], cost<role>, Unit::ns, role == kTotal ? report::Tag::whole : report::Tag::part}...}};
}
const report::Sheet<StepCosts> kSteps = step_sheet(std::make_index_sequence<kRoleNames.size()>());
const report::Sheet<RoleTime> kAverageStep{"Average step",
                                           Shape::bars,
                                           {{"role", &RoleTime::role},
                                            {"time", &RoleTime::time, Unit::ns},
                                            {"share", &RoleTime::share, Unit::share, report::Role::share}}};

std::vector<RoleTime> average_of(const std::vector<Costs>& steps) {
  const Costs sum = sum_of(steps);
  std::vector<RoleTime> rows;
  for (std::size_t i = 0; i < kTotal; ++i)
    rows.push_back({kRoleNames[i], sum[i] / static_cast<std::int64_t>(steps.size()),
                    report::ratio(sum[i], sum[kTotal])});
  return rows;
}

bool chosen(const StepChoice& choice, const std::string& name) {
  trace::Step step;
  step.number = -1;
  if (!name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos)
    step.number = std::stoll(name);
  return choice.includes(step);
}

}  // namespace

std::vector<Costs> step_costs(const Events& events, const StepWindows& windows) {
  const std::vector<IntervalSet> parts = role_parts(events, windows);
  std::vector<Costs> costs;
  for (const StepWindow& step : windows.steps) {
    Costs& row = costs.emplace_back();
    for (std::size_t i = 0; i < parts.size(); ++i) row[i] = parts[i].length_in(step.span);
    row[kTotal] = step.span.length();
  }
  return costs;
}

Costs sum_of(const std::vector<Costs>& costs) {
  Costs sum{};
  for (const Costs& row : costs)
    for (std::size_t i = 0; i < sum.size(); ++i) add_to(sum[i], row[i]);
  return sum;
}

report::Report steps(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const StepChoice choice(params);
  report::Report report{"steps", {}, {}};
  std::vector<StepCosts> rows;
  std::vector<Costs> all;
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const StepWindows windows = step_windows(events, Links(events));
    const std::vector<Costs> costs = step_costs(events, windows);
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (chosen(choice, windows.steps[i].name)) rows.push_back({rank.rank, windows.steps[i].name, costs[i]});
    all.insert(all.end(), costs.begin(), costs.end());
    if (windows.removed > 0)
      report.notes.push_back(
          fmt::format("The plugin leaves out the last {} step(s): they launched nothing, or under 80 % of "
                      "the previous step's device events.",
                      windows.removed));
  }
  report.tables.push_back(tabulate(kSteps, rows, trace.several()));
  if (!all.empty()) report.tables.push_back(tabulate(kAverageStep, average_of(all), trace.several()));
  return report;
}

}  // namespace stepscope::analyze::tb
