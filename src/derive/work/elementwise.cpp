// Element-wise ops, copies and fills. Arithmetic is 1 FLOP per output element whatever the function (2 for
// addcmul, addcdiv and lerp); copies, selections and fills are 0.
#include <algorithm>
#include <span>

#include "derive/work/families.h"

namespace stepscope::derive {

std::optional<std::vector<std::int64_t>> broadcast(const std::vector<std::int64_t>& left,
                                                   const std::vector<std::int64_t>& right) {
  std::vector<std::int64_t> sizes(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < sizes.size(); ++i) {  // i counts from the innermost dimension
    const std::int64_t l = i < left.size() ? left[left.size() - 1 - i] : 1;
    const std::int64_t r = i < right.size() ? right[right.size() - 1 - i] : 1;
    if (l != r && l != 1 && r != 1) return std::nullopt;
    sizes[sizes.size() - 1 - i] = l == 1 ? r : l;
  }
  return sizes;
}

namespace {

// The common shape and type of the operands, and the bytes to read them.
struct Combined {
  std::vector<std::int64_t> dims;
  DType dtype = DType::unknown;
  Amount bytes = 0;
  bool any = false, fits = true, usable = true;
};

// A number among tensors is recorded as a 0-dimensional tensor. It costs nothing, and promotes only across
// categories.
Combined combine(std::span<const Arg> operands) {
  Combined out;
  const bool any_dims =
      std::ranges::any_of(operands, [](const Arg& a) { return a.is_tensor() && !a.shape.dims.empty(); });
  bool float_number = false;
  for (const Arg& arg : operands) {
    if (arg.kind == ArgKind::scalar || arg.kind == ArgKind::none) continue;
    if (!arg.is_tensor()) {
      out.usable = out.usable && arg.kind == ArgKind::unknown;
      continue;
    }
    if (any_dims && arg.shape.dims.empty()) {
      float_number = float_number || is_floating(arg.dtype);
      continue;
    }
    const auto dims = broadcast(out.dims, arg.shape.dims);
    if (!dims) {
      out.fits = false;
      return out;
    }
    out.dims = *dims;
    out.dtype = out.any ? promoted(out.dtype, arg.dtype) : arg.dtype;
    out.bytes += touched_bytes(arg);
    out.any = true;
  }
  if (float_number && is_integer(out.dtype)) out.dtype = DType::float32;
  return out;
}

DType changed(DType type, int detail) {
  if ((detail & kToBool) != 0) return DType::boolean;
  if ((detail & kToFloat) != 0 && is_integer(type)) return DType::float32;
  return type;
}

// A tensor after the operands is the explicit output.
const Arg* explicit_output(const Call& call, std::size_t operands) {
  if (call.args.size() <= operands || !call.args.args.back().is_tensor()) return nullptr;
  return &call.args.args.back();
}

}  // namespace

Work elementwise_work(const Call& call) {
  const auto count = static_cast<std::size_t>(call.detail & 15);
  const int flops = (call.detail & 255) / 16;
  const std::size_t present = std::min(count, call.args.size());
  const Combined in = combine(std::span(call.args.args).first(present));
  if (!in.usable || !in.any) return unknown_work(kNoShapes);
  if (!in.fits) return unknown_work(kMalformed);
  const Amount elements = numel(Shape{in.dims, {}});
  Tally tally(call, in.dtype);
  tally.vector({flops, elements});
  tally.read(in.bytes);
  if (call.in_place() && call.at(0).is_tensor()) {
    tally.write(touched_bytes(call.at(0)));
  } else {
    const Arg* out = explicit_output(call, count);
    const bool typed = out != nullptr && bytes_per_element(out->dtype) > 0;
    tally.write(bytes_of(elements, typed ? out->dtype : changed(in.dtype, call.detail)));
  }
  return tally.work();
}

Work copy_in_place_work(const Call& call) {
  if (!call.at(0).is_tensor()) return unknown_work(kNoShapes);
  Tally tally(call, call.at(0).dtype);
  tally.vector({0});
  tally.read(call.at(1));
  tally.write(touched_bytes(call.at(0)));
  return tally.work();
}

Work clone_work(const Call& call) {
  const Arg& source = call.at(0);
  if (!source.is_tensor()) return unknown_work(kNoShapes);
  DType out = source.dtype;
  if (call.detail > 0)
    if (const auto code = integer_of(call.at(call.detail))) out = dtype_of_code(*code);
  Tally tally(call, source.dtype);
  tally.vector({0});
  tally.read(source);
  tally.write(bytes_of(numel(source.shape), out));
  return tally.work();
}

Work fill_work(const Call& call) {
  if (!call.at(0).is_tensor()) return unknown_work(kNoShapes);
  Tally tally(call, call.at(0).dtype);
  tally.vector({0});
  tally.write(touched_bytes(call.at(0)));
  return tally.work();
}

}  // namespace stepscope::derive
