#include "derive/work/work.h"

#include <unordered_map>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

using Index = std::unordered_map<std::string_view, const OpFormula*>;

Index index_of_ops() {
  Index index;
  for (const OpFormula& op : op_table()) index.emplace(op.name, &op);
  return index;
}

const OpFormula* find_op(std::string_view name) {
  static const Index kIndex = index_of_ops();
  auto found = kIndex.find(name);
  if (found == kIndex.end() && name.ends_with('_')) found = kIndex.find(name.substr(0, name.size() - 1));
  return found == kIndex.end() ? nullptr : found->second;
}

Work counted(const OpFormula& op, std::string_view name, const OpArgs& args, Convention convention,
             const WorkHints& hints) {
  if (!args.has_dims && op.work != no_work) return unknown_work(kNoShapes);
  return op.work(Call{name, args, convention, hints, op.detail});
}

// FlopCounterMode counts contractions only; every other op has 0 FLOPs.
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
  const OpFormula* op = find_op(op_name);
  if (op == nullptr) return unknown_work(kNotModelled);
  const Work work = counted(*op, op_name, args, convention, hints);
  return convention == Convention::torch && !torch_counts(op_name) ? without_flops(work) : work;
}

}  // namespace stepscope::derive
