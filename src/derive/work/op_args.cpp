#include "derive/work/op_args.h"

#include <algorithm>

#include "base/text.h"
#include "derive/arg_text.h"

namespace stepscope::derive {
namespace {

constexpr std::size_t kMaxArgs = 1024;
constexpr std::size_t kMaxRank = 64;

using Texts = std::vector<std::string_view>;

// The elements of one field. If the field is absent or unreadable: no elements, and `present` is false.
Texts field_elements(std::string_view text, bool& present) {
  present = false;
  if (text.empty()) return {};
  auto elements = array_elements(text);
  if (!elements || elements->size() > kMaxArgs) return {};
  present = true;
  return std::move(*elements);
}

std::string_view element(const Texts& texts, std::size_t i) { return i < texts.size() ? texts[i] : ""; }

// Kind and type of an argument by its name in `Input type`, before its sizes are read.
struct TypeMeaning {
  ArgKind kind;
  DType dtype;
};

TypeMeaning meaning_of(const std::string& type) {
  const DType dtype = dtype_of(type);
  if (dtype != DType::unknown) return {ArgKind::tensor, dtype};
  if (type.empty() || type == "None") return {ArgKind::none, DType::unknown};
  if (type == "Scalar" || type == "ScalarList" || type == "Int" || type == "Bool" || type == "Double")
    return {ArgKind::scalar, DType::unknown};
  if (type == "TensorList") return {ArgKind::tensor_list, DType::unknown};
  return {ArgKind::unknown, DType::unknown};  // GenericList is numbers or tensors, not recorded which
}

bool sizes_from(std::string_view text, std::vector<std::int64_t>& sizes) {
  auto numbers = integer_array(text);
  if (!numbers || numbers->size() > kMaxRank) return false;
  if (std::ranges::any_of(*numbers, [](std::int64_t n) { return n < 0; })) return false;
  sizes = std::move(*numbers);
  return true;
}

void add_strides(std::string_view text, Shape& shape) {
  auto numbers = integer_array(text);
  if (numbers && numbers->size() == shape.dims.size()) shape.strides = std::move(*numbers);
}

// Fills `arg.list` from "[[2, 3], [4]]"; for "[]" the sizes stay unknown.
void read_list(std::string_view dims, std::string_view strides, Arg& arg) {
  const auto members = array_elements(dims);
  if (!members || members->empty()) return;
  const Texts member_strides = array_elements(strides).value_or(Texts{});
  for (std::size_t i = 0; i < members->size(); ++i) {
    Shape shape;
    if (!sizes_from((*members)[i], shape.dims)) {
      arg.list.clear();
      return;
    }
    add_strides(element(member_strides, i), shape);
    arg.list.push_back(std::move(shape));
  }
  arg.sizes_known = true;
}

bool holds_arrays(std::string_view dims) {
  return dims.size() > 1 && dims.front() == '[' && trimmed(dims.substr(1)).front() == '[';
}

// The common element type of a list whose type was recorded per member: ["float", "float"].
DType list_dtype(std::string_view types) {
  const auto names = array_elements(types);
  if (!names || names->empty()) return DType::unknown;
  DType common = dtype_of(string_text(names->front()).value_or(""));
  for (const std::string_view name : *names)
    if (dtype_of(string_text(name).value_or("")) != common) return DType::unknown;
  return common;
}

Arg arg_from(std::string_view dims, std::string_view type, std::string_view strides, bool has_types) {
  Arg arg;
  const bool typed_list = !type.empty() && type.front() == '[';
  const auto type_name = string_text(type);
  if (typed_list) {
    arg.kind = ArgKind::tensor_list;
    arg.dtype = list_dtype(type);
  } else if (type_name || has_types) {
    const TypeMeaning meaning = meaning_of(type_name.value_or("None"));
    arg.kind = meaning.kind;
    arg.dtype = meaning.dtype;
  }
  const bool has_sizes = dims.size() > 1 && dims.front() == '[' && trimmed(dims.substr(1)) != "]";
  if (arg.kind == ArgKind::tensor_list || (has_sizes && holds_arrays(dims))) {
    arg.kind = ArgKind::tensor_list;
    read_list(dims, strides, arg);
    return arg;
  }
  if (has_sizes && arg.kind != ArgKind::tensor) arg.kind = ArgKind::tensor;
  if (arg.kind == ArgKind::tensor) {
    arg.sizes_known = sizes_from(dims, arg.shape.dims);
    if (arg.sizes_known) add_strides(strides, arg.shape);
  }
  return arg;
}

}  // namespace

const Arg& OpArgs::at(std::int64_t i) const {
  static const Arg kAbsent;
  const auto at = static_cast<std::size_t>(i);
  return at < args.size() ? args[at] : kAbsent;
}

OpArgs parse_op_args(std::string_view dims, std::string_view types, std::string_view strides,
                     std::string_view concrete) {
  OpArgs out;
  const Texts dim_texts = field_elements(dims, out.has_dims);
  const Texts type_texts = field_elements(types, out.has_types);
  const Texts stride_texts = field_elements(strides, out.has_strides);
  const Texts concrete_texts = field_elements(concrete, out.has_concrete);
  if (!out.has_dims) return out;
  out.args.reserve(dim_texts.size());
  for (std::size_t i = 0; i < dim_texts.size(); ++i) {
    Arg arg = arg_from(dim_texts[i], element(type_texts, i), element(stride_texts, i), out.has_types);
    arg.concrete = string_text(element(concrete_texts, i)).value_or("");
    out.args.push_back(std::move(arg));
  }
  return out;
}

Amount numel(const Shape& shape) {
  Amount product = 1;
  for (const std::int64_t size : shape.dims) {
    if (size == 0) return 0;
    product *= size < 0 ? Amount::unknown() : Amount(size);
  }
  return product;
}

Amount touched_elements(const Shape& shape) {
  if (shape.strides.size() != shape.dims.size()) return numel(shape);
  Amount product = 1;
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    if (shape.dims[i] == 0) return 0;
    if (shape.strides[i] != 0) product *= shape.dims[i];
  }
  return product;
}

Amount touched_bytes(const Arg& tensor) {
  const std::int64_t bytes = bytes_per_element(tensor.dtype);
  if (!tensor.is_tensor() || bytes == 0) return Amount::unknown();
  return touched_elements(tensor.shape) * bytes;
}

std::optional<std::int64_t> integer_of(const Arg& arg) { return whole_integer(arg.concrete); }
std::optional<double> number_of(const Arg& arg) { return whole_number(arg.concrete); }

std::optional<bool> boolean_of(const Arg& arg) {
  const std::string_view text = trimmed(arg.concrete);
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers_of(const Arg& arg) {
  if (const auto one = whole_integer(arg.concrete)) return std::vector{*one};
  return integer_array(arg.concrete);
}

std::optional<std::vector<bool>> booleans_of(const Arg& arg) {
  const auto elements = array_elements(arg.concrete);
  if (!elements) return std::nullopt;
  std::vector<bool> values;
  for (const std::string_view text : *elements) {
    if (text != "True" && text != "False" && text != "true" && text != "false") return std::nullopt;
    values.push_back(text.front() == 'T' || text.front() == 't');
  }
  return values;
}

std::optional<std::vector<double>> numbers_of(const Arg& arg) {
  const auto elements = array_elements(arg.concrete);
  if (!elements) return std::nullopt;
  std::vector<double> values;
  for (const std::string_view text : *elements) {
    const auto number = whole_number(text);
    if (!number) return std::nullopt;
    values.push_back(*number);
  }
  return values;
}

Amount bytes_of(Amount count, DType type) {
  const std::int64_t bytes = bytes_per_element(type);
  return bytes == 0 ? Amount::unknown() : count * bytes;
}

}  // namespace stepscope::derive
