// Ops over lists of tensors: the foreach family and fused optimizers. `Input type` of a list is only
// "TensorList", so the bytes need a hint about the element type.
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

Amount list_elements(const Arg& list) {
  if (!list.is_list()) return Amount::unknown();
  Amount sum = 0;
  for (const Shape& member : list.list) sum += numel(member);
  return sum;
}

DType list_type(const Call& call, const Arg& list) {
  return list.dtype != DType::unknown ? list.dtype : call.hints.list_dtype;
}

Amount list_bytes(const Call& call, const Arg& list) {
  return bytes_of(list_elements(list), list_type(call, list));
}

bool is_foreach_copy(const Call& call) { return call.name.starts_with("aten::_foreach_copy"); }

}  // namespace

Work foreach_work(const Call& call) {
  const Arg& first = call.at(0);
  if (!first.is_list()) return unknown_work(kNoListSizes);
  Tally tally(call, list_type(call, first));
  tally.vector({call.detail, list_elements(first)});
  for (std::size_t i = is_foreach_copy(call) ? 1 : 0; i < call.args.size(); ++i) {
    const Arg& arg = call.at(i);
    if (arg.kind == ArgKind::tensor_list) tally.read(list_bytes(call, arg));
  }
  tally.write(list_bytes(call, first));
  return tally.work();
}

Work foreach_norm_work(const Call& call) {
  const Arg& first = call.at(0);
  if (!first.is_list()) return unknown_work(kNoListSizes);
  const DType type = list_type(call, first);
  Tally tally(call, type);
  tally.vector({2, list_elements(first)});
  tally.read(list_bytes(call, first));
  tally.write(Amount(static_cast<std::int64_t>(first.list.size())) * bytes_per_element(type));
  return tally.work();
}

Work foreach_zero_work(const Call& call) {
  const Arg& first = call.at(0);
  if (!first.is_list()) return unknown_work(kNoListSizes);
  Tally tally(call, list_type(call, first));
  tally.vector({0});
  tally.write(list_bytes(call, first));
  return tally.work();
}

Work fused_optimizer_work(const Call& call) {
  const Arg& parameters = call.at(0);
  if (!parameters.is_list()) return unknown_work(kNoListSizes);
  // Number of lists that are read; all but the gradients are also written.
  std::size_t lists = call.detail == kFusedAdam ? 4 : 3;
  std::int64_t flops = call.detail == kFusedAdam ? 12 : call.detail == kFusedSgd ? 4 : 6;
  const bool extra_state = call.detail == kFusedAdam && call.at(4).is_list();  // amsgrad
  if (extra_state) lists = 5;
  if (call.detail == kFusedSgd && !call.at(2).is_list()) {  // no momentum
    lists = 2;
    flops = 2;
  }
  Tally tally(call, list_type(call, parameters));
  tally.vector({flops, list_elements(parameters)});
  for (std::size_t i = 0; i < lists; ++i) {
    const Amount bytes = list_bytes(call, call.at(i));
    tally.read(bytes);
    if (i != 1) tally.write(bytes);
  }
  return tally.work();
}

}  // namespace stepscope::derive
