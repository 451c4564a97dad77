// Reductions, scans and selections.
#include <cmath>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// Elements that remain after reducing over the recorded dimensions ("" and "[]" mean all dimensions).
struct Remaining {
  Amount elements = Amount::unknown();
  bool malformed = false;
};

// If no argument follows the position of the dims, the op has no dims: sum(x), sum(x, dtype), var(x,
// unbiased).
bool reduces_all(const Call& call, std::size_t dim_index) { return call.args.size() <= dim_index + 1; }

Remaining remaining(const Call& call, std::size_t dim_index) {
  if (reduces_all(call, dim_index)) return {1, false};
  if (!call.args.has_concrete) return {};
  const Arg& dims = call.at(dim_index);
  if (dims.concrete.empty()) return {1, false};
  const auto reduced = integers_of(dims);
  if (!reduced) return {};
  if (reduced->empty()) return {1, false};
  const std::vector<std::int64_t>& sizes = call.at(0).shape.dims;
  const auto rank = static_cast<std::int64_t>(sizes.size());
  std::vector<bool> gone(sizes.size(), false);
  for (const std::int64_t dim : *reduced) {
    if (rank == 0 && (dim == 0 || dim == -1)) continue;
    if (dim < -rank || dim >= rank) return {Amount::unknown(), true};
    gone[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)] = true;
  }
  Amount elements = 1;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) elements *= sizes[i];
  return {elements, false};
}

// Bytes of `count` outputs; `in` is the recorded dtype, else the input's. A sum widens integers.
Amount output_bytes(Amount count, DType in, int output) {
  switch (output) {
    case kSumType:
      return bytes_of(count, is_integer(in) ? DType::int64 : in);
    case kBoolType:
      return count;
    case kIndexType:
      return count * 8;
    case kValueAndIndex:
      return bytes_of(count, in) + count * 8;
    default:
      return bytes_of(count, in);
  }
}

// A dtype code comes after keepdim, or directly after x if there are no dims.
DType result_type(const Call& call, DType in, std::size_t dim_index) {
  const Arg& arg = call.at(reduces_all(call, dim_index) ? dim_index : dim_index + 2);
  const auto code = arg.kind == ArgKind::scalar ? integer_of(arg) : std::nullopt;
  return code ? dtype_of_code(*code) : in;
}

}  // namespace

Work reduce_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const auto dim_index = static_cast<std::size_t>(call.detail & 15);
  int output = call.detail / 256;
  if (output == kValueAndIndex && call.at(1).is_tensor()) {  // max(x, y) is element-wise
    return elementwise_work({call.name, call.args, call.convention, call.hints, elementwise_detail(2, 1)});
  }
  if (output == kValueAndIndex && reduces_all(call, dim_index)) output = kSameType;
  const Remaining out = remaining(call, dim_index);
  if (out.malformed) return unknown_work(kMalformed);
  const bool has_code = output == kSumType || output == kSameType;
  const DType type = has_code ? result_type(call, x.dtype, dim_index) : x.dtype;
  Tally tally(call, x.dtype);
  tally.vector({(call.detail & 255) / 16, numel(x.shape)});
  tally.read(x);
  if (out.elements.known()) {
    tally.write(output_bytes(out.elements, type, output));
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  return tally.work();
}

Work scan_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(x.shape);
  const auto code = integer_of(call.at(2));
  const DType out = code ? dtype_of_code(*code) : (is_integer(x.dtype) ? DType::int64 : x.dtype);
  Tally tally(call, x.dtype);
  tally.vector({n});
  tally.read(x);
  tally.write(call.in_place() ? touched_bytes(x) : bytes_of(n, out));
  return tally.work();
}

Work sort_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  // n·log2(n), rounded.
  const auto elements = static_cast<double>(n.value());
  const double flops = elements > 1 ? elements * std::log2(elements) : 0.0;
  tally.vector({n.known() && flops < 9e18 ? Amount(std::llround(flops)) : Amount::unknown()});
  tally.read(x);
  tally.write(bytes_of(n, x.dtype) + n * 8);
  return tally.work();
}

Work topk_work(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const Amount n = numel(x.shape);
  const auto k = integer_of(call.at(1));
  const std::int64_t rank = x.shape.rank();
  std::int64_t dim = integer_of(call.at(2)).value_or(-1);
  if (dim < 0) dim += rank;
  Tally tally(call, x.dtype);
  tally.vector({n});
  tally.read(x);
  if (!k || dim < 0 || dim >= rank || x.shape.dims[static_cast<std::size_t>(dim)] == 0) {
    tally.bytes_unknown(kNoConcrete);
  } else {
    const Amount kept = n / x.shape.dims[static_cast<std::size_t>(dim)] * *k;
    tally.write(bytes_of(kept, x.dtype) + kept * 8);
  }
  return tally.work();
}

}  // namespace stepscope::derive
