#include <fmt/format.h>

#include <algorithm>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/roles.h"

namespace stepscope::analyze::tb {
namespace {

using timeline::Interval;
using timeline::IntervalSet;

/// External ids of host events that are named as a collective; kernels of these ids count as communication.
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

/// What each role gets of the steps. "Nothing left" is taken for "nothing done yet": the next role then gets
/// all its time, and what is left starts over from the whole steps.
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
    for (std::size_t i = 0; i < sum.size(); ++i) accumulate(sum[i], row[i]);
  return sum;
}

namespace {

using report::Shape;
using report::Unit;

report::Table average_table(const Costs& sum, std::int64_t steps) {
  report::Table table{"Average step", Shape::bars, {}};
  report::Texts& role = table.texts("role");
  report::Ints& time = table.ints("time", Unit::ns);
  report::Reals& share = table.reals("share", Unit::share, report::Role::share);
  const double total = static_cast<double>(sum[kTotal]);
  for (std::size_t i = 0; i < kTotal; ++i) {
    role.emplace_back(kRoleNames[i]);
    time.push_back(sum[i] / steps);
    share.push_back(total > 0 ? static_cast<double>(sum[i]) / total : report::kNoReal);
  }
  return table;
}

bool chosen(const StepChoice& choice, const std::string& name) {
  trace::Step step;
  step.number = -1;
  if (!name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos)
    step.number = std::stoll(name);
  return choice.includes(step);
}

}  // namespace

report::Report steps(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const StepChoice choice(params);
  report::Report report{"steps", {}, {}};
  report::Table table{"Step time as the TensorBoard plugin counts it", Shape::bars, {}};
  RankColumn rank_column(table, trace);
  report::Texts& names = table.texts("step", report::Tag::of_one_run);
  std::vector<report::Ints*> columns;
  for (std::size_t i = 0; i < kRoleNames.size(); ++i)
    columns.push_back(
        &table.ints(kRoleNames[i], Unit::ns, i == kTotal ? report::Tag::whole : report::Tag::part));
  std::vector<Costs> all;
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const StepWindows windows = step_windows(events, Links(events));
    const std::vector<Costs> costs = step_costs(events, windows);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (!chosen(choice, windows.steps[i].name)) continue;
      rank_column.add(rank);
      names.push_back(windows.steps[i].name);
      for (std::size_t r = 0; r < columns.size(); ++r) columns[r]->push_back(costs[i][r]);
    }
    all.insert(all.end(), costs.begin(), costs.end());
    if (windows.removed > 0)
      report.notes.push_back(
          fmt::format("The plugin leaves out the last {} step(s): they launched nothing, or under 80 % of "
                      "the device events of the step before.",
                      windows.removed));
  }
  report.tables.push_back(std::move(table));
  if (!all.empty())
    report.tables.push_back(average_table(sum_of(all), static_cast<std::int64_t>(all.size())));
  return report;
}

}  // namespace stepscope::analyze::tb
