// Convolutions: 2 · elements of the output · elements of one filter. The weight's own shape already contains
// the division by groups.
#include <optional>

#include "derive/work/conv_shape.h"
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

// Argument positions; -1 if the op has no such argument.
struct ConvLayout {
  int bias, stride, padding, dilation, transposed, output_padding;
  bool is_transposed;  // for ops without a `transposed` argument
  int extra_vector;    // FLOPs per output element besides the bias (relu, added tensor)
};

constexpr ConvLayout kConvLayouts[] = {
    {2, 3, 4, 5, 6, 7, false, 0},     // kConvGeneral
    {2, 3, 4, 5, -1, -1, false, 0},   // kConvFunctional
    {2, 3, 4, 7, -1, 5, true, 0},     // kConvTransFunctional
    {-1, 3, 2, 4, -1, -1, false, 0},  // kConvCudnn
    {-1, 4, 2, 5, -1, 3, true, 0},    // kConvCudnnTransposed
    {2, 4, 3, 5, -1, -1, false, 0},   // kConvMiopen
    {2, 5, 3, 6, -1, 4, true, 0},     // kConvMiopenTransposed
    {2, 3, 4, 5, -1, -1, false, 1},   // kConvCudnnRelu
    {4, 5, 6, 7, -1, -1, false, 2},   // kConvCudnnAddRelu
    {3, 4, 5, 6, -1, -1, false, 0},   // kConvSlow
};

using Sizes = std::vector<std::int64_t>;

// Input, weight, and whether the input has a batch dimension. The weight's rank is spatial + 2.
struct Operands {
  const Arg& input;
  const Arg& weight;
  std::size_t spatial;
  std::size_t first_spatial;  // index of the first spatial size of the input

  std::int64_t batch() const { return first_spatial == 2 ? input.shape.dims[0] : 1; }
  std::int64_t channels() const { return input.shape.dims[first_spatial - 1]; }
  std::int64_t input_size(std::size_t i) const { return input.shape.dims[first_spatial + i]; }
  std::int64_t kernel(std::size_t i) const { return weight.shape.dims[i + 2]; }
};

std::optional<Operands> operands(const Arg& input, const Arg& weight) {
  const std::size_t weight_rank = weight.shape.dims.size();
  const std::size_t input_rank = input.shape.dims.size();
  if (weight_rank < 3 || weight_rank > 5) return std::nullopt;
  if (input_rank != weight_rank && input_rank + 1 != weight_rank) return std::nullopt;
  return Operands{input, weight, weight_rank - 2,
                  input_rank == weight_rank ? std::size_t{2} : std::size_t{1}};
}

// Multiplications per output element (per input element when transposed).
Amount filter_elements(const Shape& weight) {
  Amount product = 1;
  for (std::size_t i = 1; i < weight.dims.size(); ++i) product *= weight.dims[i];
  return product;
}

std::optional<bool> transposed(const Call& call, const ConvLayout& at) {
  if (at.transposed < 0) return at.is_transposed;
  return boolean_of(call.at(at.transposed));
}

// Output sizes from stride, padding and dilation; empty if one of them was not recorded or is invalid.
std::optional<Sizes> output_from_arguments(const Call& call, const ConvLayout& at, const Operands& ops,
                                           bool is_transposed) {
  const auto stride = integers_of(call.at(at.stride));
  const bool has_dilation =
      static_cast<std::size_t>(at.dilation) < call.args.size();  // _slow_conv2d has none
  const auto dilation = has_dilation ? integers_of(call.at(at.dilation)) : std::optional<Sizes>(Sizes{1});
  const std::string& padding_text = call.at(at.padding).concrete;
  Sizes out;
  if (padding_text == "same") {
    for (std::size_t i = 0; i < ops.spatial; ++i) out.push_back(ops.input_size(i));
    return out;
  }
  const auto padding =
      padding_text == "valid" ? std::optional<Sizes>(Sizes{0}) : integers_of(call.at(at.padding));
  if (!stride || !padding || !dilation) return std::nullopt;
  const Sizes extra = integers_of(call.at(at.output_padding)).value_or(Sizes{0});
  for (std::size_t i = 0; i < ops.spatial; ++i) {
    const auto s = per_dimension(*stride, i, ops.spatial);
    const auto p = per_dimension(*padding, i, ops.spatial);
    const auto d = per_dimension(*dilation, i, ops.spatial);
    if (!s || !p || !d) return std::nullopt;
    const Window window{ops.input_size(i), ops.kernel(i), *s, *p, *d};
    const auto size = is_transposed
                          ? transposed_output(window, per_dimension(extra, i, ops.spatial).value_or(0))
                          : window_output(window);
    if (!size) return std::nullopt;
    out.push_back(*size);
  }
  return out;
}

// A hint is used if it has the right rank and its sizes and the input's are positive.
std::optional<Sizes> output_from_hint(const Call& call, const Operands& ops) {
  const auto hint = call.hints.output_spatial;
  if (hint.size() != ops.spatial) return std::nullopt;
  for (std::size_t i = 0; i < hint.size(); ++i)
    if (hint[i] < 1 || ops.input_size(i) < 1) return std::nullopt;
  return Sizes(hint.begin(), hint.end());
}

std::optional<std::int64_t> groups_of(const Operands& ops, bool is_transposed) {
  const std::int64_t per_group = ops.weight.shape.dims[is_transposed ? 0 : 1];
  if (is_transposed) return ops.channels() == per_group ? std::optional<std::int64_t>(1) : std::nullopt;
  if (per_group <= 0 || ops.channels() % per_group != 0) return std::nullopt;
  return ops.channels() / per_group;
}

// Output channels: the weight's first size; for a transposed convolution, the second size × groups.
Amount output_channels(const Call& call, const ConvLayout& at, const Operands& ops, bool is_transposed) {
  if (!is_transposed) return ops.weight.shape.dims[0];
  // groups come right after output_padding, or after the dilation for the leaves.
  const int index = call.detail == kConvGeneral           ? 8
                    : call.detail == kConvTransFunctional ? 6
                                                          : at.dilation + 1;
  const auto groups = integer_of(call.at(index));
  return groups && *groups > 0 ? Amount(ops.weight.shape.dims[1]) * *groups : Amount::unknown();
}

}  // namespace

Work conv_work(const Call& call) {
  const ConvLayout& at = kConvLayouts[call.detail];
  if (!call.at(0).is_tensor() || !call.at(1).is_tensor()) return unknown_work(kNoShapes);
  const auto ops = operands(call.at(0), call.at(1));
  if (!ops) return unknown_work(kMalformed);
  const auto flag = transposed(call, at);
  const bool is_transposed = flag.value_or(false);
  auto out = flag ? output_from_arguments(call, at, *ops, is_transposed) : std::nullopt;
  if (!out && !is_transposed) out = output_from_hint(call, *ops);
  if (!flag && !out) return unknown_work(kNoConcrete);
  if (!groups_of(*ops, is_transposed)) return unknown_work(kMalformed);
  if (!out && !is_transposed) return unknown_work(call.args.has_concrete ? kMalformed : kNoConcrete);

  Tally tally(call, ops->input.dtype);
  const Amount filter = filter_elements(ops->weight.shape);
  Amount outputs =
      out ? Amount(ops->batch()) * output_channels(call, at, *ops, is_transposed) : Amount::unknown();
  if (out)
    for (const std::int64_t size : *out) outputs *= size;
  tally.matrix({2, is_transposed ? numel(ops->input.shape) : outputs, filter});
  if (const Arg& bias = call.at(at.bias); bias.is_tensor()) {
    tally.vector({outputs});
    tally.read(bias);
  }
  if (at.extra_vector > 0) tally.vector({at.extra_vector, outputs});
  if (call.detail == kConvCudnnAddRelu) tally.read_optional(call.at(2));
  tally.read(ops->input);
  tally.read(ops->weight);
  tally.write(bytes_of(outputs, ops->input.dtype));
  if (!outputs.known()) tally.bytes_unknown(kNoConcrete);
  return tally.work();
}

namespace {

// Which gradients were requested. If that was not recorded, all but the bias are assumed and the work is
// estimated.
struct GradientMask {
  bool input = true, weight = true, bias = false, recorded = false;
};

GradientMask mask_of(const Arg& arg) {
  const auto values = booleans_of(arg);
  if (!values || values->size() != 3) return {};
  return {(*values)[0], (*values)[1], (*values)[2], true};
}

Work gradients(const Call& call, const Arg& grad, const Operands& ops, const GradientMask& mask,
               bool is_transposed) {
  const Amount forward_outputs = numel(is_transposed ? ops.input.shape : grad.shape);
  const Amount filter = filter_elements(ops.weight.shape);
  Tally tally(call, ops.input.dtype);
  if (!mask.recorded) tally.estimated();
  tally.read(grad);
  if (mask.input) {
    tally.matrix({2, forward_outputs, filter});
    tally.read(ops.weight);
    tally.write(bytes_of(numel(ops.input.shape), ops.input.dtype));
  }
  if (mask.weight) {
    // torch's counter multiplies the weight gradient by the groups (pytorch #183405).
    const std::int64_t groups = call.convention == Convention::torch ? integer_of(call.at(9)).value_or(1) : 1;
    tally.matrix({2, groups, forward_outputs, filter});
    tally.read(ops.input);
    tally.write(bytes_of(numel(ops.weight.shape), ops.input.dtype));
  }
  if (mask.bias) {
    const std::size_t channel = ops.first_spatial - 1;
    tally.vector({numel(grad.shape)});
    tally.write(bytes_of(Amount(grad.shape.dims[channel]), ops.input.dtype));
  }
  return tally.work();
}

}  // namespace

Work conv_backward_work(const Call& call) {
  const Arg& grad = call.at(0);
  if (!grad.is_tensor() || !call.at(1).is_tensor() || !call.at(2).is_tensor()) return unknown_work(kNoShapes);
  const auto ops = operands(call.at(1), call.at(2));
  if (!ops || grad.shape.dims.size() != ops->input.shape.dims.size()) return unknown_work(kMalformed);
  const std::int64_t grad_channels = grad.shape.dims[ops->first_spatial - 1];
  const bool fits_forward = grad_channels == ops->weight.shape.dims[0];
  const bool fits_transposed = ops->channels() == ops->weight.shape.dims[0];
  const bool is_transposed = boolean_of(call.at(7)).value_or(!fits_forward && fits_transposed);
  if (is_transposed ? !fits_transposed : !fits_forward) return unknown_work(kMalformed);
  return gradients(call, grad, *ops, mask_of(call.at(10)), is_transposed);
}

Work conv_old_backward_work(const Call& call) {
  const Arg& grad = call.at(1);
  if (!call.at(0).is_tensor() || !grad.is_tensor() || !call.at(2).is_tensor()) return unknown_work(kNoShapes);
  const GradientMask mask = call.args.size() == 0 ? GradientMask{} : mask_of(call.args.args.back());
  if (!mask.recorded) return unknown_work(kNoConcrete);  // its leaves show which gradients were computed
  const auto ops = operands(call.at(0), call.at(2));
  if (!ops || grad.shape.dims.size() != ops->input.shape.dims.size()) return unknown_work(kMalformed);
  return gradients(call, grad, *ops, mask, false);
}

Work conv_backward_input_work(const Call& call) {
  const Arg& grad = call.at(1);
  const Arg& weight = call.at(2);
  if (!grad.is_tensor() || !weight.is_tensor()) return unknown_work(kNoShapes);
  if (weight.shape.rank() < 3 || grad.shape.rank() != weight.shape.rank()) return unknown_work(kMalformed);
  Tally tally(call, grad.dtype);
  tally.matrix({2, numel(grad.shape), filter_elements(weight.shape)});
  tally.read(grad);
  tally.read(weight);
  const Shape input{
      integers_of(call.at(0)).value_or(Sizes(call.hints.input_dims.begin(), call.hints.input_dims.end())),
      {}};
  if (!input.dims.empty()) {
    tally.write(numel(input) * bytes_per_element(grad.dtype));
  } else {
    tally.bytes_unknown(kNoConcrete);
  }
  return tally.work();
}

Work conv_backward_weight_work(const Call& call) {
  const Arg& grad = call.at(1);
  const Arg& input = call.at(2);
  if (!grad.is_tensor() || !input.is_tensor()) return unknown_work(kNoShapes);
  Shape weight;
  weight.dims =
      integers_of(call.at(0)).value_or(Sizes(call.hints.weight_dims.begin(), call.hints.weight_dims.end()));
  if (weight.dims.empty()) return unknown_work(kNoConcrete);
  if (weight.rank() < 3 || grad.shape.rank() != weight.rank()) return unknown_work(kMalformed);
  for (const std::int64_t size : weight.dims)
    if (size < 0) return unknown_work(kMalformed);
  Tally tally(call, grad.dtype);
  tally.matrix({2, numel(grad.shape), filter_elements(weight)});
  tally.read(grad);
  tally.read(input);
  tally.write(numel(weight) * bytes_per_element(grad.dtype));
  return tally.work();
}

}  // namespace stepscope::derive
