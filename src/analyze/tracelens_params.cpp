// The parameters of a modelled op, sheet by sheet.
#include <fmt/format.h>

#include "analyze/tracelens_model.h"

namespace stepscope::analyze::lens {
namespace {

using derive::Arg;
using derive::OpArgs;
using Names = std::span<const std::string_view>;
using Values = std::vector<std::string>;

constexpr std::string_view kProduct[] = {"b",        "m",        "n",      "k",        "bias",
                                         "stride_a", "stride_b", "dtypes", "transpose"};
constexpr std::string_view kConvolution[] = {
    "conv_nd", "input_shape", "filter_shape", "dtypes",     "input_stride",   "weight_stride", "bias",
    "stride",  "padding",     "dilation",     "transposed", "output_padding", "groups"};
constexpr std::string_view kAttention[] = {"b",     "n_q",     "h_q",    "n_kv",       "h_kv",  "d_h_qk",
                                           "d_h_v", "dropout", "causal", "flash_impl", "dtypes"};
constexpr std::string_view kNormalization[] = {"op_shape",      "dtypes",       "stride_input",
                                               "stride_output", "num_channels", "has_bias",
                                               "is_affine",     "is_training",  "output_mask"};
constexpr std::string_view kUnary[] = {"op_shape", "dtypes", "stride_input", "stride_output"};
constexpr std::string_view kBinary[] = {"shape_in1",     "shape_in2",     "dtypes",
                                        "stride_input1", "stride_input2", "stride_output"};
constexpr std::string_view kReduction[] = {"num_input_elems", "num_output_elems", "dtypes", "reduce_type"};

std::string list(std::span<const std::int64_t> values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
std::string shape(const Arg& arg) { return list(arg.shape.dims); }
std::string strides(const Arg& arg) { return list(arg.shape.strides); }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string truth(bool value) { return value ? "True" : "False"; }

std::string types(std::initializer_list<const Arg*> operands) {
  std::string text;
  for (const Arg* operand : operands) {
    if (!text.empty()) text += ", ";
    text += operand == nullptr                         ? "None"
            : operand->kind == derive::ArgKind::scalar ? "Scalar"
                                                       : derive::name_of(operand->dtype);
  }
  return text;
}

/// Size i of a tensor, 0 when it has no such dimension.
std::int64_t size(const Arg& arg, std::size_t i) { return i < arg.shape.dims.size() ? arg.shape.dims[i] : 0; }

Values product(std::string_view op, const OpArgs& args) {
  const bool biased = op == "aten::addmm" || op == "aten::baddbmm";
  const Arg& a = args.at(biased ? 1 : 0);
  const Arg& b = args.at(biased ? 2 : 1);
  const std::size_t rows = a.shape.dims.size() == 3 ? 1 : 0;
  return {number(rows == 1 ? size(a, 0) : 1),
          number(size(a, rows)),
          number(size(b, rows + 1)),
          number(size(a, rows + 1)),
          truth(biased),
          strides(a),
          strides(b),
          types({&a, &b}),
          ""};
}

Values convolution(std::string_view op, const OpArgs& args) {
  const bool backward = op == "aten::convolution_backward";
  const std::size_t x = backward ? 1 : 0;  // input
  const std::size_t s = backward ? 4 : 3;  // stride
  const Arg& input = args.at(x);
  const Arg& weight = args.at(x + 1);
  // A bias is never seen: forward it looks at a list of three, backward at a scalar list.
  Values values = {fmt::format("conv{}d", weight.shape.rank() - 2),
                   shape(input),
                   shape(weight),
                   types({&input, &weight}),
                   strides(input),
                   strides(weight),
                   backward ? "[]" : "False"};
  for (std::size_t i = s; i < s + 6; ++i) values.push_back(args.at(i).concrete);
  return values;
}

Values attention(std::string_view op, const OpArgs& args) {
  const bool package = op.starts_with("flash_attn::");
  const bool backward = op.ends_with("_backward");
  const bool flash = op.find("flash") != op.npos;
  const std::size_t first = backward ? 1 : 0;
  const std::size_t heads = package ? 2 : 1;
  const std::size_t dropout = backward ? 8 : flash ? 3 : 5;
  const std::size_t causal = backward ? 10 : package ? 5 : flash ? 4 : 6;
  const Arg &q = args.at(first), &k = args.at(first + 1), &v = args.at(first + 2);
  return {number(size(q, 0)),
          number(size(q, 3 - heads)),
          number(size(q, heads)),
          number(size(k, 3 - heads)),
          number(size(k, heads)),
          number(size(q, 3)),
          number(size(v, 3)),
          args.at(dropout).concrete,
          backward ? "True" : args.at(causal).concrete,
          truth(flash),
          types({&q, &k})};
}

/// Any text is true, "False" included.
Values normalization(std::string_view op, const OpArgs& args) {
  const bool backward = op.ends_with("_backward");
  const bool layer = op.find("layer_norm") != op.npos;
  const bool vendor = op.starts_with("aten::cudnn") || op.starts_with("aten::miopen");
  const Arg& x = args.at(backward && !vendor ? 1 : 0);
  const bool training =
      layer || (backward ? !vendor && !args.at(7).concrete.empty() : !args.at(5).concrete.empty());
  std::string channels = number(size(x, 1));
  if (layer) {
    std::int64_t elements = 1;
    for (const std::int64_t n :
         derive::integers_of(args.at(backward ? 2 : 1)).value_or(std::vector<std::int64_t>{}))
      if (__builtin_mul_overflow(elements, n, &elements)) elements = 0;
    channels = number(elements);
  }
  const std::string mask = !backward ? "" : layer ? args.at(7).concrete : "[True]";
  return {shape(x), types({&x, nullptr}), strides(x), "", channels, "True", "True", truth(training), mask};
}

Values unary(std::string_view op, const OpArgs& args) {
  const bool copies = op.starts_with("aten::copy");
  const Arg& x = args.at(0);
  const Arg* output = copies && !args.at(1).shape.dims.empty() ? &args.at(1) : nullptr;
  return {shape(x), types({&x, output}), strides(x), output == nullptr ? "" : strides(*output)};
}

Values binary(std::string_view, const OpArgs& args) {
  const Arg &a = args.at(0), &b = args.at(1);
  const Arg* output = args.size() > 2 && args.args.back().is_tensor() ? &args.args.back() : nullptr;
  return {shape(a),   shape(b),   types({&a, &b, output}),
          strides(a), strides(b), output == nullptr ? "" : strides(*output)};
}

Values reduction(std::string_view op, const OpArgs& args) {
  const derive::Amount elements = derive::numel(args.at(0).shape);
  return {elements.known() ? number(elements.value()) : "", "1", types({&args.at(0), nullptr}),
          std::string(op.substr(op.rfind(':') + 1))};
}

struct Family {
  std::string_view sheet;
  Names names;
  Values (*values)(std::string_view op, const OpArgs& args);
};

constexpr Family kFamilies[] = {
    {"GEMM", kProduct, product},
    {"CONV_fwd", kConvolution, convolution},
    {"CONV_bwd", kConvolution, convolution},
    {"SDPA_fwd", kAttention, attention},
    {"SDPA_bwd", kAttention, attention},
    {"Normalization", kNormalization, normalization},
    {"UnaryElementwise", kUnary, unary},
    {"BinaryElementwise", kBinary, binary},
    {"Reduce_fwd", kReduction, reduction},
    {"Reduce_bwd", kReduction, reduction},
};

}  // namespace

std::span<const std::string_view> param_names(std::string_view sheet) {
  for (const Family& family : kFamilies)
    if (family.sheet == sheet) return family.names;
  return {};
}

std::vector<std::string> param_values(std::string_view sheet, std::string_view op, const OpArgs& args) {
  for (const Family& family : kFamilies)
    if (family.sheet == sheet) return family.values(op, args);
  return {};
}

}  // namespace stepscope::analyze::lens
