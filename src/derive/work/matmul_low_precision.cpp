// Matrix products whose operands, scales or storage need their own formula: fp8, fp4, int4/int8 weights,
// grouped, and 2:4 sparse.
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// The type of the result: the `out_dtype` code if one was recorded, else 16 bit for 8-bit and 4-bit operands.
DType result_type(const Arg& operand, const Arg& out_dtype) {
  if (const auto code = integer_of(out_dtype)) return dtype_of_code(*code);
  return bytes_per_element(operand.dtype) == 1 ? DType::bfloat16 : operand.dtype;
}

}  // namespace

Work scaled_mm_work(const Call& call) {
  const Arg& a = call.at(0);
  const Arg& b = call.at(1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  if (a.shape.rank() != 2 || b.shape.rank() != 2 || dim(a, 1) != dim(b, 0)) return unknown_work(kMalformed);
  const std::int64_t rows = dim(a, 0);
  const std::int64_t columns = dim(b, 1);
  Tally tally(call, a.dtype);
  tally.matrix({2, rows, columns, Amount(dim(a, 1)) * values_per_element(a.dtype)});
  tally.vector({rows, columns});
  if (call.at(4).is_tensor()) tally.vector({rows, columns});
  tally.read(a);
  tally.read(b);
  for (int i = 2; i <= 5; ++i) tally.read_optional(call.at(i));  // scales, bias, result scale
  tally.write(bytes_of(Amount(rows) * columns, result_type(a, call.at(6))));
  return tally.work();
}

Work grouped_mm_work(const Call& call) {
  const bool scaled = call.detail == 1;
  const Arg& a = call.at(0);
  const Arg& b = call.at(1);
  const Arg& offsets = call.at(scaled ? 4 : 2);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  const std::int64_t rank_a = a.shape.rank();
  const std::int64_t rank_b = b.shape.rank();
  if (rank_a < 2 || rank_a > 3 || rank_b < 2 || rank_b > 3) return unknown_work(kMalformed);
  const std::int64_t rows = dim(a, static_cast<std::size_t>(rank_a) - 2);
  const std::int64_t inner = dim(a, static_cast<std::size_t>(rank_a) - 1);
  const std::int64_t columns = dim(b, static_cast<std::size_t>(rank_b) - 1);
  if (dim(b, static_cast<std::size_t>(rank_b) - 2) != inner) return unknown_work(kMalformed);
  const bool batched = rank_a == 3 && rank_b == 3;
  if (batched && dim(a, 0) != dim(b, 0)) return unknown_work(kMalformed);

  Tally tally(call, a.dtype);
  const Amount depth = Amount(inner) * values_per_element(a.dtype);
  Amount outputs = Amount(rows) * columns;
  if (batched) {
    tally.matrix({2, dim(a, 0), rows, columns, depth});
    outputs *= dim(a, 0);
  } else {
    tally.matrix({2, rows, columns, depth});
    if (rank_a == 2 && rank_b == 2) outputs *= offsets.is_tensor() ? numel(offsets.shape) : Amount::unknown();
    if (rank_a != rank_b) tally.bytes_upper_bound();
  }
  tally.read(a);
  tally.read(b);
  tally.read_optional(offsets);
  if (scaled) {
    tally.read_optional(call.at(2));
    tally.read_optional(call.at(3));
  }
  tally.write(bytes_of(outputs, result_type(a, Arg{})));
  return tally.work();
}

Work packed_weight_mm_work(const Call& call) {
  const Arg& x = call.at(0);
  const Arg& weight = call.at(1);
  const Arg& scales = call.at(call.detail);
  if (!x.is_tensor() || !weight.is_tensor() || !scales.is_tensor()) return unknown_work(kNoShapes);
  if (x.shape.rank() != 2 || scales.shape.dims.empty()) return unknown_work(kMalformed);
  // int4: scales and zeros are [K / group, N, 2]; int8: scales are [N].
  const std::int64_t columns = scales.shape.rank() >= 2 ? dim(scales, 1) : dim(scales, 0);
  Tally tally(call, x.dtype);
  tally.matrix({2, dim(x, 0), columns, dim(x, 1)});
  tally.read(x);
  tally.read(weight);
  tally.read(scales);
  tally.write(bytes_of(Amount(dim(x, 0)) * columns, x.dtype));
  return tally.work();
}

Work sparse_mm_work(const Call& call) {
  struct Positions {
    int sparse, dense;
    int meta;  // -1: none of its own
    int bias;  // -1: none
  };
  static constexpr Positions kPositions[] = {{0, 1, -1, 2}, {0, 2, 1, -1}, {1, 3, 2, 0}, {1, 0, 2, 3}};
  const Positions& at = kPositions[call.detail];
  const Arg& sparse = call.at(at.sparse);
  const Arg& dense = call.at(at.dense);
  if (!sparse.is_tensor() || !dense.is_tensor()) return unknown_work(kNoShapes);
  if (sparse.shape.dims.empty() || dense.shape.rank() < 2) return unknown_work(kMalformed);
  // linear: dense is [..., K]; the others: [K, N].
  const bool linear = call.detail == kSparseLinear;
  if (!linear && dense.shape.rank() != 2) return unknown_work(kMalformed);
  const std::int64_t inner = linear ? dense.shape.dims.back() : dim(dense, 0);
  Amount columns = linear ? 1 : dim(dense, 1);
  if (linear)
    for (std::size_t i = 0; i + 1 < dense.shape.dims.size(); ++i) columns *= dim(dense, i);
  const std::int64_t rows = dim(sparse, 0);
  Tally tally(call, dense.dtype);
  tally.sparse();
  tally.matrix({2, rows, columns, inner});
  if (const Arg& bias = call.at(at.bias); bias.is_tensor()) {
    tally.vector({rows, columns});
    tally.read(bias);
  }
  tally.read(sparse);
  tally.read(dense);
  tally.read_optional(call.at(at.meta));
  tally.write(bytes_of(Amount(rows) * columns, result_type(dense, Arg{})));
  return tally.work();
}

}  // namespace stepscope::derive
