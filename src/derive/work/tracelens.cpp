// The formulas of TraceLens's performance models (August 2026), defects included, for comparing numbers with
// its reports. Nothing here is used for stepscope's own figures.
#include <algorithm>

#include "derive/work/broadcast.h"
#include "derive/work/conv_shape.h"
#include "derive/work/families.h"

namespace stepscope::derive {
namespace {

constexpr WorkRole kRow = WorkRole::canonical;

// TraceLens knows few element sizes; of any other type the row has no bytes. A scalar counts 4.
Amount element_bytes(const Arg& arg) {
  if (arg.kind == ArgKind::scalar) return 4;
  switch (arg.dtype) {
    case DType::float64:
    case DType::int64:
      return 8;
    case DType::float32:
      return 4;
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::float8:
    case DType::uint8:
    case DType::int8:
      return 1;
    default:
      return Amount::unknown();
  }
}

// One element size (of the first operand) for everything; a bias is N elements whatever its shape.
Work gemm(const Call& call) {
  const auto first = static_cast<std::size_t>(call.detail);
  const Arg& a = call.at(first);
  const Arg& b = call.at(first + 1);
  if (!a.is_tensor() || !b.is_tensor()) return unknown_work(kNoShapes);
  const std::size_t rank = a.shape.dims.size();
  if ((rank != 2 && rank != 3) || b.shape.dims.size() != rank) return unknown_work(kMalformed);
  const std::int64_t batch = rank == 3 ? dim(a, 0) : 1;
  const Amount rows = dim(a, rank - 2);
  const Amount inner = dim(a, rank - 1);
  const Amount columns = dim(b, rank - 1);
  const bool biased = call.detail == 1;
  const Amount element = element_bytes(a);
  const bool eight_bit = call.name == "aten::_scaled_mm" && element.value() == 1;
  Tally tally(call, a.dtype);
  tally.matrix({2, batch, rows, columns, inner});
  if (biased) tally.vector({batch, rows, columns});
  tally.read((rows * inner + inner * columns + (biased ? columns : Amount(0))) * batch * element);
  tally.write(rows * columns * batch * (eight_bit ? Amount(2) : element));
  return tally.work();
}

struct Convolution {
  Amount flops, in, weight, out, element;
};

// Forward shapes of a convolution; `x` is the index of the input, `s` of the stride.
std::optional<Convolution> convolution(const Call& call, std::size_t x, std::size_t s) {
  const Arg& input = call.at(x);
  const Arg& weight = call.at(x + 1);
  const std::size_t rank = weight.shape.dims.size();
  if (!input.is_tensor() || !weight.is_tensor() || rank < 3 || rank > 5 || input.shape.dims.size() != rank)
    return std::nullopt;
  if (input.dtype != weight.dtype) return std::nullopt;
  const auto stride = integers_of(call.at(s));
  const auto padding = integers_of(call.at(s + 1));
  const auto dilation = integers_of(call.at(s + 2));
  const auto extra = integers_of(call.at(s + 4));
  const auto groups = integer_of(call.at(s + 5));
  const bool transposed = boolean_of(call.at(s + 3)).value_or(false);
  if (!stride || !padding || !dilation || !extra || !groups) return std::nullopt;
  Amount out =
      Amount(dim(input, 0)) * (transposed ? Amount(dim(weight, 1)) * *groups : Amount(dim(weight, 0)));
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto st = per_dimension(*stride, i, rank - 2);
    const auto pa = per_dimension(*padding, i, rank - 2);
    const auto di = per_dimension(*dilation, i, rank - 2);
    if (!st || !pa || !di) return std::nullopt;
    const Window window{dim(input, i + 2), dim(weight, i + 2), *st, *pa, *di};
    const auto size = transposed ? transposed_output(window, per_dimension(*extra, i, rank - 2).value_or(0))
                                 : window_output(window);
    if (!size) return std::nullopt;
    out *= *size;
  }
  Amount filter = 1;
  for (std::size_t i = 1; i < rank; ++i) filter *= dim(weight, i);
  const Amount in = numel(input.shape);
  return Convolution{Amount(2) * (transposed ? in : out) * filter, in, numel(weight.shape), out,
                     element_bytes(input)};
}

Work conv(const Call& call) {
  const auto c = convolution(call, 0, 3);
  if (!c) return unknown_work("TraceLens has no row for it");
  Tally tally(call, call.at(0).dtype);
  tally.matrix({c->flops});
  tally.read((c->in + c->weight) * c->element);
  tally.write(c->out * c->element);
  return tally.work();
}

// Both gradients whatever the mask; the weight's × groups; grad_output counted twice.
Work conv_backward(const Call& call) {
  const auto c = convolution(call, 1, 4);
  if (!c) return unknown_work("TraceLens has no row for it");
  Tally tally(call, call.at(1).dtype);
  tally.matrix({c->flops});
  tally.matrix({c->flops, integer_of(call.at(9)).value_or(1)});
  tally.read((c->out * 2 + c->weight + c->in) * c->element);
  tally.write((c->in + c->weight) * c->element);
  return tally.work();
}

struct Attention {
  Amount batch = 0, heads = 0, key_heads = 0, queries = 0, keys = 0, depth = 0, value_depth = 0;
  bool causal = false;
};

// `first`: index of the query; `heads_at`: 1 for [B, H, S, D], 2 for [B, S, H, D].
std::optional<Attention> attention_sizes(const Call& call, std::size_t first, std::size_t heads_at,
                                         std::size_t causal) {
  for (std::size_t i = first; i < first + 3; ++i)
    if (!call.at(i).is_tensor() || call.at(i).shape.rank() != 4) return std::nullopt;
  const Arg& q = call.at(first);
  const Arg& k = call.at(first + 1);
  const std::size_t place = 3 - heads_at;
  return Attention{dim(q, 0),
                   dim(q, heads_at),
                   dim(k, heads_at),
                   dim(q, place),
                   dim(k, place),
                   dim(q, 3),
                   dim(call.at(first + 2), 3),
                   boolean_of(call.at(causal)).value_or(false)};
}

// Half of the square under causal, which unequal lengths make it refuse; 2 bytes per element whatever the
// type.
Work attention_forward_row(const Call& call, const Attention& a) {
  if (a.causal && a.queries.value() != a.keys.value())
    return unknown_work("TraceLens refuses unequal lengths");
  const Amount full = Amount(2) * a.batch * a.heads * a.queries * a.keys * (a.depth + a.value_depth);
  Tally tally(call, call.at(0).dtype);
  tally.matrix({a.causal ? full / 2 : full});
  tally.read((a.heads * a.queries * a.depth + a.key_heads * a.keys * (a.depth + a.value_depth)) * a.batch *
             2);
  tally.write(a.heads * a.queries * a.value_depth * a.batch * 2);
  return tally.work();
}

Work attention_backward_row(const Call& call, const Attention& a, int score_products) {
  if (a.causal && a.queries.value() != a.keys.value())
    return unknown_work("TraceLens refuses unequal lengths");
  const Amount full =
      Amount(2) * a.batch * a.heads * a.queries * a.keys * (a.depth * score_products + a.value_depth * 2);
  Tally tally(call, call.at(0).dtype);
  tally.matrix({a.causal ? full / 2 : full});
  tally.bytes_unknown(kNotModelled);
  return tally.work();
}

Work attention(const Call& call) {
  // detail: index of `is_causal`; flash-attn's own op has the sequence before the heads.
  const std::size_t heads_at = call.name.starts_with("flash_attn::") ? 2 : 1;
  const auto a = attention_sizes(call, 0, heads_at, static_cast<std::size_t>(call.detail));
  return a ? attention_forward_row(call, *a) : unknown_work(kNoShapes);
}

// It reads the causal flag from the position of the scale, so that every backward is causal.
Work package_flash_backward(const Call& call) {
  auto a = attention_sizes(call, 1, 2, 10);
  if (!a) return unknown_work(kNoShapes);
  a->causal = true;
  return attention_backward_row(call, *a, 3);
}

struct NormSizes {
  Amount n, channels, element;
};

Work norm_forward(const Call& call, const NormSizes& s, bool training) {
  Tally tally(call, call.at(0).dtype);
  tally.vector({training ? 5 : 2, s.n});
  tally.vector({6, s.channels});
  tally.read((s.n + s.channels * 4) * s.element);
  tally.write((s.n + s.channels * (training ? 2 : 0)) * s.element);
  return tally.work();
}

// Any text is true for it, "False" included.
bool truthy(const Arg& arg) { return !arg.concrete.empty(); }

Work batch_norm(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor() || x.shape.rank() < 2) return unknown_work(kNoShapes);
  return norm_forward(call, {numel(x.shape), dim(x, 1), element_bytes(x)}, truthy(call.at(5)));
}

Work layer_norm(const Call& call) {
  const Arg& x = call.at(0);
  const auto sizes = integers_of(call.at(1));
  if (!x.is_tensor() || !sizes) return unknown_work(kNoShapes);
  return norm_forward(call, {numel(x.shape), numel(Shape{*sizes, {}}), element_bytes(x)}, true);
}

Work norm_backward(const Call& call, const Arg& x, const NormSizes& s, bool training, bool dx, bool gamma,
                   bool beta) {
  Tally tally(call, x.dtype);
  if (!training) tally.vector({3, s.channels});
  tally.vector({dx ? (training ? 9 : 4) : 6, s.n});
  tally.read((s.n * (dx && training ? 2 : 1)) * s.element);
  tally.write(s.n * s.element);
  const int vectors = (training ? 1 : 0) + (gamma ? 1 + (training ? (beta ? 2 : 1) : 0) : 0);
  tally.write(s.channels * vectors * s.element);
  return tally.work();
}

// detail: index of x. For cuDNN and MIOpen (0) it takes the pass for one that does not train.
Work batch_norm_backward(const Call& call) {
  const Arg& x = call.at(static_cast<std::size_t>(call.detail));
  if (!x.is_tensor() || x.shape.rank() < 2) return unknown_work(kNoShapes);
  const bool training = call.detail == 1 && truthy(call.at(7));
  return norm_backward(call, x, {numel(x.shape), dim(x, 1), element_bytes(x)}, training, true, true, true);
}

Work layer_norm_backward(const Call& call) {
  const Arg& x = call.at(1);
  const auto sizes = integers_of(call.at(2));
  const auto mask = booleans_of(call.at(7));
  if (!x.is_tensor() || !sizes || !mask || mask->size() != 3) return unknown_work(kNoShapes);
  return norm_backward(call, x, {numel(x.shape), numel(Shape{*sizes, {}}), element_bytes(x)}, true,
                       (*mask)[0], (*mask)[1], (*mask)[2]);
}

// One FLOP per element of argument 0, copies included; the "input" of copy_ is its destination.
Work unary(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  const bool copies = call.name.starts_with("aten::copy");
  const Amount n = numel(x.shape);
  Tally tally(call, x.dtype);
  tally.vector({n});
  tally.read(n * element_bytes(x));
  tally.write(n * element_bytes(copies ? call.at(1) : x));
  return tally.work();
}

// A scalar or 0-dimensional operand is one element; expanded tensors count in full.
Work binary(const Call& call) {
  const Arg& a = call.at(0);
  const Arg& b = call.at(1);
  if (!a.is_tensor() || (!b.is_tensor() && b.kind != ArgKind::scalar)) return unknown_work(kNoShapes);
  const auto dims = broadcast(a.shape.dims, b.shape.dims);
  if (!dims) return unknown_work(kMalformed);
  const Amount outputs = numel(Shape{*dims, {}});
  const Amount pa = element_bytes(a);
  const Amount pb = element_bytes(b);
  const bool both_have_dims = !a.shape.dims.empty() && !b.shape.dims.empty();
  const Amount po = both_have_dims && pb.value() > pa.value() ? pb : pa;
  Tally tally(call, a.dtype);
  tally.vector({outputs});
  tally.read(numel(a.shape) * pa + numel(b.shape) * pb);
  tally.write(outputs * po);
  return tally.work();
}

// The output is always one element.
Work reduction(const Call& call) {
  const Arg& x = call.at(0);
  if (!x.is_tensor()) return unknown_work(kNoShapes);
  Tally tally(call, x.dtype);
  tally.vector({numel(x.shape)});
  tally.read(numel(x.shape) * element_bytes(x));
  tally.write(element_bytes(x));
  return tally.work();
}

constexpr OpFormula kTracelensTable[] = {
    {"aten::mm", kRow, gemm, 0},
    {"aten::bmm", kRow, gemm, 0},
    {"aten::_scaled_mm", kRow, gemm, 0},
    {"aten::addmm", kRow, gemm, 1},
    {"aten::baddbmm", kRow, gemm, 1},
    {"aten::convolution", kRow, conv},
    {"aten::convolution_backward", kRow, conv_backward},
    {"aten::_scaled_dot_product_flash_attention", kRow, attention, 4},
    {"aten::_scaled_dot_product_efficient_attention", kRow, attention, 6},
    {"aten::_scaled_dot_product_cudnn_attention", kRow, attention, 6},
    {"flash_attn::_flash_attn_forward", kRow, attention, 5},
    {"flash_attn::_flash_attn_backward", kRow, package_flash_backward},
    {"aten::batch_norm", kRow, batch_norm},
    {"aten::native_batch_norm", kRow, batch_norm},
    {"aten::miopen_batch_norm", kRow, batch_norm},
    {"aten::cudnn_batch_norm", kRow, batch_norm},
    {"aten::native_batch_norm_backward", kRow, batch_norm_backward, 1},
    {"aten::miopen_batch_norm_backward", kRow, batch_norm_backward, 0},
    {"aten::cudnn_batch_norm_backward", kRow, batch_norm_backward, 0},
    {"aten::layer_norm", kRow, layer_norm},
    {"aten::native_layer_norm", kRow, layer_norm},
    {"aten::native_layer_norm_backward", kRow, layer_norm_backward},
    {"aten::copy", kRow, unary},
    {"aten::copy_", kRow, unary},
    {"aten::clamp_min", kRow, unary},
    {"aten::clamp_min_", kRow, unary},
    {"aten::clamp_max", kRow, unary},
    {"aten::clamp_max_", kRow, unary},
    {"aten::sigmoid", kRow, unary},
    {"aten::rsqrt", kRow, unary},
    {"aten::silu", kRow, unary},
    {"aten::neg", kRow, unary},
    {"aten::pow", kRow, unary},
    {"aten::div", kRow, binary},
    {"aten::div_", kRow, binary},
    {"aten::mul", kRow, binary},
    {"aten::mul_", kRow, binary},
    {"aten::add", kRow, binary},
    {"aten::add_", kRow, binary},
    {"aten::sigmoid_backward", kRow, binary},
    {"aten::threshold_backward", kRow, binary},
    {"aten::sum", kRow, reduction},
    {"aten::mean", kRow, reduction},
    {"aten::max", kRow, reduction},
    {"aten::min", kRow, reduction},
    {"aten::norm", kRow, reduction},
    {"aten::linalg_norm", kRow, reduction},
};

}  // namespace

std::span<const OpFormula> tracelens_table() { return kTracelensTable; }

Work tracelens_backward(std::string_view forward_name, const OpArgs& args) {
  static const WorkHints kNoHints;
  const auto found = std::ranges::find(kTracelensTable, forward_name, &OpFormula::name);
  if (found == std::end(kTracelensTable)) return unknown_work(kNotModelled);
  const Call call{forward_name, args, Convention::tracelens, kNoHints, found->detail, nullptr};
  if (found->work == reduction) return reduction(call);
  if (found->work != attention) return unknown_work(kNotModelled);
  const bool package = forward_name.starts_with("flash_attn::");
  const auto a = attention_sizes(call, 0, package ? 2 : 1, static_cast<std::size_t>(call.detail));
  if (!a) return unknown_work(kNoShapes);
  const bool recomputes = forward_name.find("flash") != std::string_view::npos;
  return attention_backward_row(call, *a, recomputes ? 3 : 2);
}

}  // namespace stepscope::derive
