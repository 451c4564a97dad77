// ops_unique_args: launching ops by name and arguments, with the spread of their device time.
#include <algorithm>

#include "analyze/tracelens_call.h"
#include "analyze/tracelens_launch.h"

namespace stepscope::analyze::lens {
namespace {

using report::Role;
using report::Unit;
using trace::Row;

struct Group {
  std::vector<const Launcher*> calls;
  Spread direct, subtree;
};

std::vector<Group> groups_of(const Lens& lens, const Arguments& arguments,
                             const std::vector<Launcher>& launchers) {
  CallGroups numbers(lens, arguments);
  std::vector<Group> groups;
  for (const Launcher& one : launchers) {
    const std::uint32_t group = numbers.of(one.row, trace::kEmptyString, one.category);
    if (group == groups.size()) groups.emplace_back();
    groups[group].calls.push_back(&one);
  }
  for (Group& group : groups) {
    std::vector<double> direct, subtree;
    for (const Launcher* call : group.calls) {
      direct.push_back(static_cast<double>(united(lens.e, call->launched)));
      subtree.push_back(static_cast<double>(united(lens.e, lens.tree.below(call->row))));
    }
    group.direct = spread_of(std::move(direct));
    group.subtree = spread_of(std::move(subtree));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.direct.sum > b.direct.sum; });
  return groups;
}

struct Columns {
  explicit Columns(const trace::Trace& trace)
      : rank(table, trace),
        name(table.texts("name")),
        category(table.texts("category")),
        arguments(table, Role::key),
        recomputed(table.texts("is_recompute")),
        calls(table.ints("calls", Unit::count)),
        direct_sum(table.ints("direct_kernel_time_sum", Unit::ns)),
        direct(table, "direct_kernel_time", Unit::ns),
        subtree_sum(table.ints("subtree_kernel_time_sum", Unit::ns)),
        subtree(table, "subtree_kernel_time", Unit::ns),
        first_event(table.ints("first_event", Unit::none, Role::detail)),
        share(table) {}
  report::Table table{"Launching ops by arguments", report::Shape::table, {}};
  RankColumn rank;
  report::Texts &name, &category;
  ArgumentColumns arguments;
  report::Texts& recomputed;
  report::Ints &calls, &direct_sum;
  SpreadColumns direct;
  report::Ints& subtree_sum;
  SpreadColumns subtree;
  report::Ints& first_event;
  ShareColumns share;
};

void add_group(const Lens& lens, const Arguments& arguments, const Group& group, Columns& out) {
  const Launcher& first = *group.calls.front();
  out.rank.add(lens.rank);
  out.name.emplace_back(lens.name(first.row));
  out.category.emplace_back(first.category);
  out.arguments.add(lens, arguments, first.row);
  out.recomputed.emplace_back(lens.recomputed(first.row) ? "yes" : "no");
  out.calls.push_back(static_cast<std::int64_t>(group.calls.size()));
  out.direct_sum.push_back(static_cast<std::int64_t>(group.direct.sum));
  out.direct.add(group.direct);
  out.subtree_sum.push_back(static_cast<std::int64_t>(group.subtree.sum));
  out.subtree.add(group.subtree);
  out.first_event.push_back(lens.e.source[first.row]);
  out.share.add(group.direct.sum);
}

}  // namespace

void unique_args_sheet(const trace::Trace& trace, std::string_view, report::Report& report) {
  Columns out(trace);
  KernelDetails details(trace);
  for (const trace::Rank& rank : trace.ranks) {
    const Lens lens(trace, rank);
    const Arguments arguments(lens);
    const std::vector<Launcher> launchers = launchers_of(lens);
    const std::vector<Group> groups = groups_of(lens, arguments, launchers);
    double total = 0;
    for (const Group& group : groups) total += group.direct.sum;
    out.share.begin(total);
    for (const Group& group : groups) {
      add_group(lens, arguments, group, out);
      std::vector<std::vector<Row>> launched;
      for (const Launcher* call : group.calls) launched.push_back(call->launched);
      details.add(lens, lens.e.source[group.calls.front()->row], launched);
    }
  }
  report.tables.push_back(std::move(out.table));
  report.tables.push_back(details.take());
}

}  // namespace stepscope::analyze::lens
