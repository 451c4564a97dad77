#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

#include "analyze/derived.h"
#include "analyze/list.h"
#include "analyze/question.h"
#include "analyze/tb/tree.h"
#include "analyze/tb/window.h"
#include "report/sheet.h"

namespace stepscope::analyze::tb {
namespace {

using report::Unit;

enum class Group : std::uint8_t { name, shape, stack };

/// Calls of one operator with one detail, times in ns.
struct OperatorSum {
  std::int64_t rank;
  std::string_view name, detail;  ///< detail: the shape's or the stack's text
  bool eligible;                  ///< of the first call
  std::int64_t calls = 0, host = 0, host_self = 0, device = 0, device_self = 0, tensor = 0, tensor_self = 0;
};

/// The text by which an operator is grouped in addition to its name.
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

/// Most device self time first.
std::vector<OperatorSum> operator_sums(const Forest& forest, Group group) {
  const trace::Trace& trace = forest.events.trace;
  const Detail detail(forest.events, group);
  std::vector<OperatorSum> sums;
  std::unordered_map<std::uint64_t, std::size_t> index;
  for (const NodeId id : forest.preorder()) {
    const Node& node = forest.nodes[id];
    if (!forest.is_operator(node)) continue;
    const trace::StringId name = forest.name_of(node), by = detail.of(node.row);
    if (group == Group::stack && by == trace::kEmptyString) continue;
    const auto [at, added] = index.try_emplace(std::uint64_t{name} << 32 | by, sums.size());
    if (added) sums.push_back({forest.events.rank.rank, trace.text(name), trace.text(by), node.eligible});
    OperatorSum& sum = sums[at->second];
    ++sum.calls;
    add_to(sum.host, node.host);
    add_to(sum.host_self, node.host_self);
    add_to(sum.device, node.device);
    add_to(sum.device_self, node.device_self);
    add_to(sum.tensor, node.tensor);
    add_to(sum.tensor_self, node.tensor_self);
  }
  std::sort(sums.begin(), sums.end(), [](const OperatorSum& a, const OperatorSum& b) {
    return std::tie(b.device_self, b.host_self, a.name, a.detail) <
           std::tie(a.device_self, a.host_self, b.name, b.detail);
  });
  return sums;
}

Group group_of(const report::Params& params) {
  const std::string_view group = params.text("group", "name");
  return group == "shape" ? Group::shape : group == "stack" ? Group::stack : Group::name;
}

report::Sheet<OperatorSum> sheet_of(Group group) {
  using Sum = OperatorSum;
  report::Sheet<Sum> sheet{"Operators as the TensorBoard plugin sums them",
                           report::Shape::table,
                           {report::rank_field<Sum>(&Sum::rank), {"name", &Sum::name}}};
  if (group != Group::name)
    sheet.fields.emplace_back(group == Group::shape ? "input_shape" : "call_stack", [](const Sum& sum) {
      return std::string(sum.detail.empty() ? "[]" : sum.detail);
    });
  const report::Field<Sum> sums[] = {
      {"calls", &Sum::calls, Unit::count},
      {"host_total", &Sum::host, Unit::ns},
      {"host_self", &Sum::host_self, Unit::ns},
      {"device_total", &Sum::device, Unit::ns},
      {"device_self", &Sum::device_self, Unit::ns},
      {"tc_eligible", [](const Sum& sum) { return std::string(sum.eligible ? "yes" : "no"); },
       report::Role::detail},
      {"tc_self_ratio", [](const Sum& sum) { return ratio(sum.tensor_self, sum.device_self); }, Unit::share,
       report::Role::detail},
      {"tc_total_ratio", [](const Sum& sum) { return ratio(sum.tensor, sum.device); }, Unit::share,
       report::Role::detail}};
  sheet.fields.insert(sheet.fields.end(), std::begin(sums), std::end(sums));
  return sheet;
}

}  // namespace

report::Report operators(const Derived& derived, const report::Params& params) {
  const trace::Trace& trace = derived.trace();
  const Group group = group_of(params);
  std::vector<OperatorSum> rows;
  for (const trace::Rank& rank : trace.ranks) {
    const std::vector<OperatorSum> sums = operator_sums(Forest(Events(trace, rank)), group);
    rows.insert(rows.end(), sums.begin(), sums.end());
  }
  report::Report report{"operators", {tabulate(sheet_of(group), rows, trace.several())}, {}};
  if (rows.empty())
    report.notes.push_back(
        group == Group::stack
            ? "No operator has a call stack. Record with with_stack=True (newer releases also need the "
              "experimental verbose option)."
            : "No operator was recorded. Record with ProfilerActivity.CPU to see operators.");
  note_step_choice(params, report);
  return report;
}

}  // namespace stepscope::analyze::tb
