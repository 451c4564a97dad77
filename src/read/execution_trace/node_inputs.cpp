#include "read/execution_trace/node_inputs.h"

#include <algorithm>

#include "read/json_text.h"

namespace stepscope::read {
namespace {

constexpr std::size_t kMaxInputs = 4096;

/// Steps over the elements of a JSON list.
class Elements {
 public:
  explicit Elements(std::string_view list) : at_(list.data()), end_(list.data() + list.size()) {
    whole_ = list.size() >= 2 && list.front() == '[' && list.back() == ']';
    if (whole_) at_ = skip_space(at_ + 1);
  }
  bool is_list() const { return whole_; }
  bool next(std::string_view& element) {
    if (!whole_ || at_ >= end_ - 1) return false;
    const char* behind = value_end(at_, end_);
    if (behind == nullptr || behind == at_) return whole_ = false;
    element = {at_, static_cast<std::size_t>(behind - at_)};
    at_ = skip_space(behind);
    if (at_ < end_ && *at_ == ',') at_ = skip_space(at_ + 1);
    return true;
  }

 private:
  const char *at_, *end_;
  bool whole_;
};

bool is_text(std::string_view json) { return json.size() >= 2 && json.front() == '"' && json.back() == '"'; }
std::string_view inside(std::string_view json) { return json.substr(1, json.size() - 2); }

/// How Kineto classifies a type of the file.
enum class Meaning : std::uint8_t { other, tensor, scalar, text, list };

Meaning meaning_of(std::string_view type) {
  if (type.starts_with("Tensor(") && type.ends_with(')'))
    return type.starts_with("Tensor(nullptr") ? Meaning::other : Meaning::tensor;
  if (type == "Int" || type == "Double" || type == "Bool" || type == "SymInt" || type == "SymFloat" ||
      type == "SymBool")
    return Meaning::scalar;
  if (type == "String") return Meaning::text;
  return type.starts_with("GenericList[") && type.ends_with(']') ? Meaning::list : Meaning::other;
}

/// Whether all members of a list are numbers: then it is a list of scalars, else one of tensors.
bool holds_scalars(std::string_view list_type) {
  std::string_view members = list_type.substr(list_type.find('[') + 1);
  members.remove_suffix(1);
  while (!members.empty()) {
    const std::size_t comma = std::min(members.find(','), members.size());
    if (meaning_of(members.substr(0, comma)) != Meaning::scalar) return false;
    members.remove_prefix(std::min(comma + 1, members.size()));
  }
  return true;
}

/// Sizes or strides, spaced as in Kineto's files; "[]" for anything else.
void put_sizes(std::string_view json, std::string& out) {
  if (json.find_first_not_of("[]0123456789-, \t\r\n") != json.npos || !json.starts_with('[')) {
    out += "[]";
    return;
  }
  for (const char c : json) {
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    out += c;
    if (c == ',') out += ' ';
  }
}

/// A scalar as PyTorch prints it: True, 5, 1., 0.5.
void put_scalar(std::string_view json, std::string& out) {
  if (is_text(json)) json = inside(json);  // nan and inf
  if (json == "true" || json == "false") {
    out += json == "true" ? "True" : "False";
    return;
  }
  const bool is_fraction = json.find('.') != json.npos && json.find_first_of("eE") == json.npos;
  if (is_fraction) json = json.substr(0, json.find_last_not_of('0') + 1);
  if (json.find_first_of("\"\\[]{}") == json.npos) out += json;
}

void put_scalars(std::string_view list, std::string& out) {
  Elements elements(list);
  out += '[';
  const std::size_t first = out.size();
  for (std::string_view element; elements.next(element);) {
    if (out.size() > first) out += ", ";
    put_scalar(element, out);
  }
  out += ']';
}

struct Input {
  std::string_view type, shape, stride, value;
};

void put_input(const Input& in, InputArgs& args) {
  Meaning meaning = meaning_of(in.type);
  const bool scalars = meaning == Meaning::list && holds_scalars(in.type);
  const bool tensors = meaning == Meaning::tensor || (meaning == Meaning::list && !scalars);
  put_sizes(tensors ? in.shape : "[]", args.dims);
  put_sizes(tensors ? in.stride : "[]", args.strides);
  args.types += '"';
  if (meaning == Meaning::tensor)
    args.types += in.type.substr(7, in.type.size() - 8);
  else if (meaning == Meaning::list)
    args.types += scalars ? "ScalarList" : "TensorList";
  else if (meaning == Meaning::scalar)
    args.types += "Scalar";
  args.types += '"';
  args.concrete += '"';
  if (meaning == Meaning::scalar)
    put_scalar(in.value, args.concrete);
  else if (meaning == Meaning::text && is_text(in.value))
    args.concrete += inside(in.value);
  else if (scalars)
    put_scalars(in.value, args.concrete);
  args.concrete += '"';
}

}  // namespace

bool read_inputs(const NodeLists& lists, InputArgs& args) {
  for (std::string* text : {&args.dims, &args.types, &args.strides, &args.concrete}) *text = "[";
  Elements types(lists.types), shapes(lists.shapes), values(lists.values), strides(lists.strides);
  bool fits = types.is_list() && shapes.is_list() && values.is_list();
  Input in;
  std::string_view type;
  for (std::size_t count = 0; fits && count < kMaxInputs && types.next(type); ++count) {
    fits = is_text(type) && shapes.next(in.shape) && values.next(in.value) &&
           (!strides.is_list() || strides.next(in.stride));
    if (!fits) break;
    in.type = inside(type);
    if (count > 0)
      for (std::string* text : {&args.dims, &args.types, &args.strides, &args.concrete}) *text += ", ";
    put_input(in, args);
  }
  fits = fits && types.is_list();
  for (std::string* text : {&args.dims, &args.types, &args.strides, &args.concrete}) *text += ']';
  if (!strides.is_list() || !fits) args.strides.clear();
  if (!fits) args = {};
  return fits;
}

}  // namespace stepscope::read
