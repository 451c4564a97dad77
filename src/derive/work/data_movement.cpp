// Lookups, gathers, scatters and concatenations: no arithmetic, or one addition per scattered element.
#include "derive/work/families.h"

namespace stepscope::derive {
Work embedding_work(const Call& call) {
  const Arg& weight = call.at(0);
  const Arg& indices = call.at(1);
  if (!weight.is_tensor() || !indices.is_tensor()) return unknown_work(kNoShapes);
  if (weight.shape.rank() != 2) return unknown_work(kMalformed);
  const Amount moved = bytes_of(numel(indices.shape) * weight.shape.dims[1], weight.dtype);
  Tally tally(call, weight.dtype);
  tally.bytes_upper_bound();
  tally.vector({0});
  tally.read(indices);
  tally.read(moved);
  tally.write(moved);
  return tally.work();
}

Work embedding_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  const Arg& indices = call.at(1);
  if (!grad.is_tensor() || !indices.is_tensor()) return unknown_work(kNoShapes);
  if (grad.shape.dims.empty()) return unknown_work(kMalformed);
  const auto rows = integer_of(call.at(2));
  const std::int64_t width = grad.shape.dims.back();
  Tally tally(call, grad.dtype);
  tally.vector({numel(indices.shape), width});
  tally.read(grad);
  tally.read(indices);
  if (rows && *rows >= 0) {
    tally.write(bytes_of(Amount(*rows) * width, grad.dtype));
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  return tally.work();
}

Work embedding_bag_work(const Call& call) {
  const Arg& weight = call.at(0);
  const Arg& indices = call.at(1);
  const Arg& offsets = call.at(2);
  if (!weight.is_tensor() || !indices.is_tensor()) return unknown_work(kNoShapes);
  if (weight.shape.rank() != 2) return unknown_work(kMalformed);
  const std::int64_t width = weight.shape.dims[1];
  Tally tally(call, weight.dtype);
  tally.bytes_upper_bound();
  tally.vector({numel(indices.shape), width});
  tally.read(indices);
  tally.read(bytes_of(numel(indices.shape) * width, weight.dtype));
  if (offsets.is_tensor()) {
    tally.write(bytes_of(numel(offsets.shape) * width, weight.dtype));
  } else {
    tally.bytes_unknown(kNoShapes);
  }
  return tally.work();
}

Work index_select_work(const Call& call) {
  const Arg& x = call.at(0);
  const Arg& index = call.at(2);
  if (!x.is_tensor() || !index.is_tensor()) return unknown_work(kNoShapes);
  const std::int64_t rank = x.shape.rank();
  auto dim = integer_of(call.at(1));
  if (!dim && rank == 1) dim = 0;
  Tally tally(call, x.dtype);
  tally.bytes_upper_bound();
  tally.vector({0});
  if (!dim) {
    tally.bytes_unknown(kNoConcrete);
    return tally.work();
  }
  if (*dim < -rank || *dim >= rank) return unknown_work(kMalformed);
  const auto along = static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim);
  Amount selected = numel(index.shape);
  for (std::size_t i = 0; i < x.shape.dims.size(); ++i)
    if (i != along) selected *= x.shape.dims[i];
  tally.read(index);
  tally.read(bytes_of(selected, x.dtype));
  tally.write(bytes_of(selected, x.dtype));
  return tally.work();
}

Work gather_work(const Call& call) {
  const Arg& x = call.at(0);
  const Arg& index = call.at(2);
  if (!x.is_tensor() || !index.is_tensor()) return unknown_work(kNoShapes);
  const Amount moved = bytes_of(numel(index.shape), x.dtype);
  Tally tally(call, x.dtype);
  tally.bytes_upper_bound();
  tally.vector({0});
  tally.read(index);
  tally.read(moved);
  tally.write(moved);
  return tally.work();
}

Work index_work(const Call& call) {
  if (!call.at(0).is_tensor()) return unknown_work(kNoShapes);
  Tally tally(call, call.at(0).dtype);
  tally.vector({0});
  tally.bytes_unknown("the sizes of the index tensors are never recorded");
  return tally.work();
}

Work scatter_work(const Call& call) {
  const Arg& self = call.at(0);
  const Arg& index = call.at(2);
  const Arg& source = call.at(3);
  if (!self.is_tensor() || !index.is_tensor()) return unknown_work(kNoShapes);
  const bool adds = call.detail == 1;
  const bool from_tensor = source.is_tensor() && !source.shape.dims.empty();
  const Amount count = numel(from_tensor ? source.shape : index.shape);
  Tally tally(call, self.dtype);
  tally.vector({adds ? 1 : 0, count});
  tally.read(index);
  if (from_tensor) tally.read(source);
  if (adds) tally.read(bytes_of(count, self.dtype));
  tally.write(bytes_of(count, self.dtype));
  return tally.work();
}

Work index_put_work(const Call& call) {
  const Arg& self = call.at(0);
  const Arg& values = call.at(2);
  if (!self.is_tensor() || !values.is_tensor()) return unknown_work(kNoShapes);
  const bool adds = boolean_of(call.at(3)).value_or(false);
  const Amount count = numel(values.shape);
  const Amount moved = bytes_of(count, self.dtype);
  Tally tally(call, self.dtype);
  tally.estimated();  // the index tensors and a broadcast of the values are not recorded
  tally.vector({adds ? 1 : 0, count});
  tally.read(adds ? moved * 2 : moved);
  tally.write(moved);
  return tally.work();
}

Work cat_work(const Call& call) {
  const Arg& list = call.at(0);
  const Arg& out = call.at(2);
  DType type = list.dtype != DType::unknown ? list.dtype : call.hints.list_dtype;
  if (out.is_tensor()) type = out.dtype;
  Amount count = Amount::unknown();
  if (list.is_list()) {
    count = 0;
    for (const Shape& member : list.list) count += numel(member);
  } else if (out.is_tensor() && !out.shape.dims.empty() && numel(out.shape).value() > 0) {
    count = numel(out.shape);
  }
  Tally tally(call, type);
  tally.vector({0});
  tally.read(bytes_of(count, type));
  tally.write(bytes_of(count, type));
  if (!count.known()) tally.bytes_unknown(kNoListSizes);
  return tally.work();
}

}  // namespace stepscope::derive
