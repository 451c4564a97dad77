#include "derive/work/work.h"

#include <unordered_map>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

using Index = std::unordered_map<std::string_view, const OpFormula*>;

Index index_of(std::span<const OpFormula> table) {
  Index index;
  index.reserve(table.size());
  for (const OpFormula& op : table) index.emplace(op.name, &op);
  return index;
}

const OpFormula* find(const Index& index, std::string_view name, bool in_place_forms) {
  auto found = index.find(name);
  if (found == index.end() && in_place_forms && name.ends_with('_'))
    found = index.find(name.substr(0, name.size() - 1));
  return found == index.end() ? nullptr : found->second;
}

const OpFormula* find_op(std::string_view name) {
  static const Index kIndex = index_of(op_table());
  return find(kIndex, name, true);
}

const OpFormula* find_tracelens(std::string_view name) {
  static const Index kIndex = index_of(tracelens_table());
  return find(kIndex, name, false);
}

Work counted(const OpFormula& op, std::string_view name, const OpArgs& args, Convention convention,
             const WorkHints& hints, std::string* formula) {
  if (!args.has_dims && op.work != no_work) return unknown_work(kNoShapes);
  return op.work(Call{name, args, convention, hints, op.detail});
}

// FlopCounterMode counts contractions only; every other op is 0 for it.
Work without_flops(Work work) {
  work.matrix_flops = work.vector_flops = 0;
  work.flops_known = true;
  if (work.bytes_known) work.unknown_reason = {};
  return work;
}

}  // namespace

Work decided_below(const Call&) { return unknown_work("its work is that of the ops it calls"); }

Work no_work(const Call& call) {
  Tally tally(call, DType::unknown);
  return tally.work();
}

WorkRole work_role(std::string_view op_name) {
  const OpFormula* op = find_op(op_name);
  return op == nullptr ? WorkRole::none : op->role;
}

bool is_elementwise(std::string_view op_name) {
  const OpFormula* op = find_op(op_name);
  return op != nullptr && op->work == elementwise_work;
}

Work work_of(std::string_view op_name, const OpArgs& args, Convention convention, const WorkHints& hints) {
  const OpFormula* op = convention == Convention::tracelens ? find_tracelens(op_name) : find_op(op_name);
  if (op == nullptr)
    return unknown_work(convention == Convention::tracelens ? "TraceLens has no model for this op"
                                                            : kNotModelled);
  const Work work = counted(*op, op_name, args, convention, hints, nullptr);
  return convention == Convention::torch && !torch_counts(op_name) ? without_flops(work) : work;
}

Work backward_work_of(std::string_view forward_name, const OpArgs& forward_args, Convention convention) {
  static const WorkHints kNoHints;
  if (convention == Convention::tracelens) return tracelens_backward(forward_name, forward_args);
  const OpFormula* op = find_op(forward_name);
  if (op == nullptr || op->work != attention_work) return unknown_work(kNotModelled);
  return attention_backward_of_forward(
      Call{forward_name, forward_args, convention, kNoHints, op->detail, nullptr});
}

Work elementwise_kernel_work(const OpArgs& args) {
  static const WorkHints kNoHints;
  if (!args.has_dims) return unknown_work(kNoShapes);
  return elementwise_of_all_tensors(Call{"", args, Convention::exact, kNoHints, 0, nullptr});
}

std::string work_formula(std::string_view op_name, const OpArgs& args, const WorkHints& hints) {
  const OpFormula* op = find_op(op_name);
  if (op == nullptr) return {};
  std::string formula;
  const Work work = counted(*op, op_name, args, Convention::exact, hints, &formula);
  if (!work.flops_known) return {};
  if (formula.empty()) return "0 FLOP";
  const std::int64_t total = work.matrix_flops > 0 ? work.matrix_flops : work.vector_flops;
  return formula + " = " + with_unit(static_cast<double>(total));
}

}  // namespace stepscope::derive
