// Matrix products of one element type: 2MNK FLOPs, operands read once, output written once.
#include <algorithm>

#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// A complex product is four real ones.
Amount flops_per_product(DType type) { return is_complex(type) ? 8 : 2; }

bool beta_is_zero(const Arg& beta) {
  const auto value = number_of(beta);
  return value && *value == 0.0;
}

// The added matrix of addmm and its family: unless beta is 0, it is read and costs M·N additions.
void count_addend(const Call& call, Tally& tally, Amount outputs) {
  if (call.detail == 0 || beta_is_zero(call.at(3))) return;
  tally.vector({outputs});
  tally.read(call.at(0));
}

}  // namespace

Work mm_work(const Call& call) {
  const Arg& a = call.at(call.detail);
  const Arg& b = call.at(call.detail + 1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  const std::size_t rank = a.shape.dims.size();
  if ((rank != 2 && rank != 3) || b.shape.dims.size() != rank) return unknown_work(kMalformed);
  const std::int64_t batch = rank == 3 ? dim(a, 0) : 1;
  const std::int64_t rows = dim(a, rank - 2);
  const std::int64_t columns = dim(b, rank - 1);
  const std::int64_t inner = dim(a, rank - 1);
  if (dim(b, rank - 2) != inner || (rank == 3 && dim(b, 0) != batch)) return unknown_work(kMalformed);

  Tally tally(call, a.dtype);
  tally.matrix({flops_per_product(a.dtype), batch, rows, columns, inner});
  const bool sums_batches = call.name == "aten::addbmm" || call.name == "aten::addbmm_";
  const Amount outputs = Amount(sums_batches ? 1 : batch) * rows * columns;
  count_addend(call, tally, outputs);
  if (call.name == "aten::_addmm_activation") tally.vector({outputs});
  tally.read(a);
  tally.read(b);
  const DType out = call.name == "aten::_int_mm" ? DType::int32 : a.dtype;
  tally.write(outputs * bytes_per_element(out));
  return tally.work();
}

Work mv_work(const Call& call) {
  const Arg& matrix = call.at(call.detail);
  const Arg& vector = call.at(call.detail + 1);
  if (!matrix.is_tensor() || !vector.is_tensor()) return unknown_work(kNoShapes);
  if (matrix.shape.rank() != 2 || vector.shape.rank() != 1 || dim(matrix, 1) != dim(vector, 0))
    return unknown_work(kMalformed);
  Tally tally(call, matrix.dtype);
  tally.matrix({flops_per_product(matrix.dtype), dim(matrix, 0), dim(matrix, 1)});
  count_addend(call, tally, dim(matrix, 0));
  tally.read(matrix);
  tally.read(vector);
  tally.write(Amount(dim(matrix, 0)) * bytes_per_element(matrix.dtype));
  return tally.work();
}

Work dot_work(const Call& call) {
  const Arg& a = call.at(0);
  const Arg& b = call.at(1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  if (a.shape.rank() != 1 || a.shape.dims != b.shape.dims) return unknown_work(kMalformed);
  Tally tally(call, a.dtype);
  tally.matrix({flops_per_product(a.dtype), dim(a, 0)});
  tally.read(a);
  tally.read(b);
  tally.write(bytes_per_element(a.dtype));
  return tally.work();
}

Work outer_work(const Call& call) {
  const Arg& a = call.at(call.detail);
  const Arg& b = call.at(call.detail + 1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  if (a.shape.rank() != 1 || b.shape.rank() != 1) return unknown_work(kMalformed);
  Tally tally(call, a.dtype);
  const Amount outputs = Amount(dim(a, 0)) * dim(b, 0);
  tally.vector({dim(a, 0), dim(b, 0)});
  count_addend(call, tally, outputs);
  tally.read(a);
  tally.read(b);
  tally.write(outputs * bytes_per_element(a.dtype));
  return tally.work();
}

Work linear_work(const Call& call) {
  const Arg& input = call.at(0);
  const Arg& weight = call.at(1);
  if (!input.is_tensor() || !weight.is_tensor()) return unknown_work(kNoShapes);
  const std::int64_t weight_rank = weight.shape.rank();
  if (input.shape.dims.empty() || weight_rank < 1 || weight_rank > 2 ||
      input.shape.dims.back() != weight.shape.dims.back())
    return unknown_work(kMalformed);
  Amount rows = 1;
  for (std::size_t i = 0; i + 1 < input.shape.dims.size(); ++i) rows *= dim(input, i);
  const std::int64_t columns = weight_rank == 2 ? dim(weight, 0) : 1;
  Tally tally(call, input.dtype);
  tally.matrix({flops_per_product(input.dtype), rows, columns, input.shape.dims.back()});
  if (call.at(2).is_tensor()) tally.vector({rows, columns});
  tally.read(input);
  tally.read(weight);
  tally.read_optional(call.at(2));
  tally.write(rows * columns * bytes_per_element(input.dtype));
  return tally.work();
}

Work matmul_work(const Call& call) {
  const Arg& a = call.at(0);
  const Arg& b = call.at(1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  if (a.shape.dims.empty() || b.shape.dims.empty()) return unknown_work(kMalformed);
  std::vector<std::int64_t> left = a.shape.dims;
  std::vector<std::int64_t> right = b.shape.dims;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  const std::int64_t inner = left.back();
  if (right[right.size() - 2] != inner) return unknown_work(kMalformed);
  Amount batch = 1;
  const std::size_t leading = std::max(left.size(), right.size()) - 2;
  for (std::size_t i = 0; i < leading; ++i) {  // i counts from the innermost leading dimension
    const std::int64_t l = i + 2 < left.size() ? left[left.size() - 3 - i] : 1;
    const std::int64_t r = i + 2 < right.size() ? right[right.size() - 3 - i] : 1;
    if (l != r && l != 1 && r != 1) return unknown_work(kMalformed);
    batch *= l == 1 ? r : l;
  }
  Tally tally(call, a.dtype);
  const std::int64_t rows = left[left.size() - 2];
  const std::int64_t columns = right.back();
  tally.matrix({flops_per_product(a.dtype), batch, rows, columns, inner});
  tally.read(a);
  tally.read(b);
  tally.write(batch * rows * columns * bytes_per_element(a.dtype));
  return tally.work();
}

}  // namespace stepscope::derive
