#include <algorithm>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tree.h"
#include "analyze/tb/window.h"

namespace stepscope::analyze::tb {
namespace {

enum class Group : std::uint8_t { name, shape, stack };

struct OperatorSum {
  trace::StringId name, detail;  ///< detail: the shape's or the stack's text
  bool eligible;                 ///< of the first call
  std::int64_t calls = 0, host = 0, host_self = 0, device = 0, device_self = 0, tensor = 0, tensor_self = 0;
};

/// The text an operator is grouped by beside its name.
class Detail {
 public:
  Detail(const Events& events, Group group)
      : group_(group),
        shape_(events.trace, events.rank, "Input Dims"),
        old_shape_(events.trace, events.rank, "Input dims"),
        stack_(events.trace, events.rank, "Call stack") {}
  trace::StringId of(Row row) const {
    if (group_ == Group::name) return trace::kEmptyString;
    if (group_ == Group::stack) return stack_.id(row);
    return shape_.has(row) ? shape_.id(row) : old_shape_.id(row);
  }

 private:
  Group group_;
  trace::ArgReader shape_, old_shape_, stack_;
};

std::vector<OperatorSum> operator_sums(const Forest& forest, Group group) {
  const Detail detail(forest.events, group);
  std::vector<OperatorSum> sums;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (const NodeId id : forest.preorder()) {
    const Node& node = forest.nodes[id];
    if (!forest.is_operator(node)) continue;
    const trace::StringId name = forest.name_of(node), by = detail.of(node.row);
    if (group == Group::stack && by == trace::kEmptyString) continue;
    const auto [at, added] = index.try_emplace(std::uint64_t{name} << 32 | by, sums.size());
    if (added) sums.push_back({name, by, node.eligible});
    OperatorSum& sum = sums[at->second];
    ++sum.calls;
    accumulate(sum.host, node.host);
    accumulate(sum.host_self, node.host_self);
    accumulate(sum.device, node.device);
    accumulate(sum.device_self, node.device_self);
    accumulate(sum.tensor, node.tensor);
    accumulate(sum.tensor_self, node.tensor_self);
  }
  return sums;
}

void sort_by_device(std::vector<OperatorSum>& sums, const trace::Trace& trace) {
  std::sort(sums.begin(), sums.end(), [&](const OperatorSum& a, const OperatorSum& b) {
    if (a.device_self != b.device_self) return a.device_self > b.device_self;
    if (a.host_self != b.host_self) return a.host_self > b.host_self;
    if (a.name != b.name) return trace.text(a.name) < trace.text(b.name);
    return trace.text(a.detail) < trace.text(b.detail);
  });
}

}  // namespace

namespace {

using report::Unit;

Group group_of(const report::Params& params) {
  const std::string_view group = params.text("group", "name");
  return group == "shape" ? Group::shape : group == "stack" ? Group::stack : Group::name;
}

}  // namespace

report::Report operators(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const Group group = group_of(params);
  report::Report report{"operators", {}, {}};
  report::Table table{"Operators as the TensorBoard plugin sums them", report::Shape::table, {}};
  RankColumn rank_column(table, trace);
  report::Texts& name = table.texts("name");
  report::Texts* detail =
      group == Group::name ? nullptr : &table.texts(group == Group::shape ? "input_shape" : "call_stack");
  report::Ints& calls = table.ints("calls", Unit::count);
  report::Ints& host_total = table.ints("host_total", Unit::ns);
  report::Ints& host_self = table.ints("host_self", Unit::ns);
  report::Ints& device_total = table.ints("device_total", Unit::ns);
  report::Ints& device_self = table.ints("device_self", Unit::ns);
  report::Texts& eligible = table.texts("tc_eligible", report::Role::detail);
  report::Reals& self_ratio = table.reals("tc_self_ratio", Unit::share, report::Role::detail);
  report::Reals& total_ratio = table.reals("tc_total_ratio", Unit::share, report::Role::detail);
  for (const trace::Rank& rank : trace.ranks) {
    const Events events(trace, rank);
    const Forest forest(events);
    std::vector<OperatorSum> sums = operator_sums(forest, group);
    sort_by_device(sums, trace);
    for (const OperatorSum& sum : sums) {
      rank_column.add(rank);
      name.emplace_back(trace.text(sum.name));
      if (detail != nullptr)
        detail->emplace_back(sum.detail == trace::kEmptyString ? "[]" : trace.text(sum.detail));
      calls.push_back(sum.calls);
      host_total.push_back(sum.host);
      host_self.push_back(sum.host_self);
      device_total.push_back(sum.device);
      device_self.push_back(sum.device_self);
      eligible.emplace_back(sum.eligible ? "yes" : "no");
      self_ratio.push_back(ratio(sum.tensor_self, sum.device_self));
      total_ratio.push_back(ratio(sum.tensor, sum.device));
    }
  }
  if (name.empty())
    report.notes.push_back(
        group == Group::stack
            ? "No operator has a call stack. Record with with_stack=True (newer releases also need the "
              "experimental verbose option)."
            : "No operator was recorded. Record with ProfilerActivity.CPU to see operators.");
  note_step_choice(params, report);
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace stepscope::analyze::tb
