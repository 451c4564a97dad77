#include "record/text/inputs_text.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "record/signature.h"
#include "record/text/json_text.h"
#include "record/text/signature_bytes.h"

namespace stepscope::record {
namespace {

/// Names by c10::ScalarType, as spelled by PyTorch's profiler.
constexpr std::array<std::string_view, 46> kTypes = {"unsigned char",
                                                     "signed char",
                                                     "short int",
                                                     "int",
                                                     "long int",
                                                     "c10::Half",
                                                     "float",
                                                     "double",
                                                     "c10::complex<c10::Half>",
                                                     "c10::complex<float>",
                                                     "c10::complex<double>",
                                                     "bool",
                                                     "c10::qint8",
                                                     "c10::quint8",
                                                     "c10::qint32",
                                                     "c10::BFloat16",
                                                     "c10::quint4x2",
                                                     "c10::quint2x4",
                                                     "c10::bits1x8",
                                                     "c10::bits2x4",
                                                     "c10::bits4x2",
                                                     "c10::bits8",
                                                     "c10::bits16",
                                                     "c10::Float8_e5m2",
                                                     "c10::Float8_e4m3fn",
                                                     "c10::Float8_e5m2fnuz",
                                                     "c10::Float8_e4m3fnuz",
                                                     "short unsigned int",
                                                     "unsigned int",
                                                     "long unsigned int",
                                                     "c10::dummy_uint1_7_t<1>",
                                                     "c10::dummy_uint1_7_t<2>",
                                                     "c10::dummy_uint1_7_t<3>",
                                                     "c10::dummy_uint1_7_t<4>",
                                                     "c10::dummy_uint1_7_t<5>",
                                                     "c10::dummy_uint1_7_t<6>",
                                                     "c10::dummy_uint1_7_t<7>",
                                                     "c10::dummy_int1_7_t<1>",
                                                     "c10::dummy_int1_7_t<2>",
                                                     "c10::dummy_int1_7_t<3>",
                                                     "c10::dummy_int1_7_t<4>",
                                                     "c10::dummy_int1_7_t<5>",
                                                     "c10::dummy_int1_7_t<6>",
                                                     "c10::dummy_int1_7_t<7>",
                                                     "c10::Float8_e8m0fnu",
                                                     "c10::Float4_e2m1fn_x2"};

/// Kineto's names, by CollectiveField.
constexpr std::array<std::string_view, 18> kFields = {"",
                                                      "Collective name",
                                                      "In msg nelems",
                                                      "Out msg nelems",
                                                      "dtype",
                                                      "In split size",
                                                      "Out split size",
                                                      "Rank",
                                                      "Group size",
                                                      "Process Group Name",
                                                      "Process Group Description",
                                                      "Process Group Ranks",
                                                      "Global rank start",
                                                      "Global rank stride",
                                                      "Src Rank",
                                                      "Dst Rank",
                                                      "Seq",
                                                      "Is asynchronized op"};

/// One input's entry in each of the four lists.
struct Told {
  std::string dims = "[]", strides = "[]", type, concrete;
};

/// As Python writes a float, but without zeros after the point.
std::string real_text(double value) {
  char digits[32];
  std::string out(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (std::isfinite(value) && out.find_first_of(".e") == out.npos) out += '.';
  return out;
}

std::string complex_text(double real, double imaginary) {
  const std::string second = real_text(imaginary);
  return real_text(real) + (second.starts_with('-') ? "" : "+") + second + 'j';
}

class Reader : public SignatureBytes {
 public:
  using SignatureBytes::SignatureBytes;
  bool at_collective() const { return !empty() && static_cast<Input>(rest_.front()) == Input::collective; }

  /// False: the signature is invalid.
  bool collective(std::string& out) {
    rest_.remove_prefix(1);
    for (std::uint8_t field = 0; take(field);) {
      if (field == 0) return true;
      if (field >= kFields.size()) return false;
      out += ", ";
      append_json(out, kFields[field]);
      out += ": ";
      if (!field_value(out)) return false;
    }
    return false;
  }

  bool at_keywords() const { return !empty() && static_cast<Input>(rest_.front()) == Input::keywords; }

  bool at_hierarchy() const { return !empty() && static_cast<Input>(rest_.front()) == Input::hierarchy; }

  /// False: the signature is invalid.
  bool hierarchy(std::string& out) {
    rest_.remove_prefix(1);
    std::uint16_t length = 0;
    if (!take(length) || length > rest_.size()) return false;
    out += R"(, "Module Hierarchy": )";
    append_json(out, rest_.substr(0, length));
    rest_.remove_prefix(length);
    return true;
  }

  /// Adds members of a JSON object, without its braces. False: the signature is invalid.
  bool keywords(std::string& out) {
    rest_.remove_prefix(1);
    std::uint16_t count = 0;
    if (!take(count)) return false;
    for (std::uint16_t i = 0; i < count; ++i) {
      Told key;
      if (empty() || static_cast<Input>(rest_.front()) != Input::text || !read(key)) return false;
      if (!out.empty()) out += ", ";
      append_json(out, key.concrete);
      out += ": ";
      if (!keyword_value(out)) return false;
    }
    return true;
  }

  bool at_remarks() const { return !empty() && static_cast<Input>(rest_.front()) == kRemarks; }

  /// Changes what is told of some inputs. False: the signature is invalid.
  bool remarks(std::vector<Told>& inputs, ListedInputs listed) {
    rest_.remove_prefix(1);
    std::uint8_t count = 0, input = 0, remark = 0;
    if (!take(count)) return false;
    for (std::uint8_t i = 0; i < count; ++i) {
      if (!take(input) || !take(remark) || input >= inputs.size()) return false;
      Told& told = inputs[input];
      if (static_cast<Remark>(remark) == Remark::complex) {
        double real = 0, imaginary = 0;
        if (!take(real) || !take(imaginary)) return false;
        told = {.type = "Scalar", .concrete = complex_text(real, imaginary)};
      } else if (listed == ListedInputs::as_torch) {
        told = {.type = static_cast<Remark>(remark) == Remark::no_shapes ? "TensorList" : "", .concrete = ""};
      }
    }
    return true;
  }

  std::optional<Told> input() {
    Told told;
    if (!read(told)) return std::nullopt;
    return told;
  }

 private:
  /// Lists are written as JSON strings, as in Kineto's files.
  bool field_value(std::string& out) {
    const Input kind = empty() ? Input::none : static_cast<Input>(rest_.front());
    Told told;
    if (!read(told)) return false;
    if (kind == Input::text || kind == Input::list)
      append_json(out, told.concrete);
    else if (kind == Input::integer)
      out += told.concrete;
    else if (kind == Input::boolean)
      out += told.concrete == "True" ? "true" : "false";
    else
      return false;
    return true;
  }

  bool keyword_value(std::string& out) {
    const Input kind = empty() ? Input::none : static_cast<Input>(rest_.front());
    Told told;
    if (!read(told)) return false;
    const bool is_number = told.concrete.find_first_not_of("+-.0123456789e") == std::string::npos;
    if (kind == Input::boolean)
      out += told.concrete == "True" ? "true" : "false";
    else if (kind == Input::integer || (kind == Input::real && is_number))
      out += told.concrete.ends_with('.') ? told.concrete + '0' : told.concrete;
    else if (told.concrete.empty())
      out += "null";
    else
      append_json(out, told.concrete);
    return true;
  }

  bool tensor(Told& told) {
    std::uint8_t type = 0, dimensions = 0, strided = 0;
    if (!take(type) || !take(dimensions) || !take(strided)) return false;
    told.type = scalar_type_name(type);
    std::uint64_t unused = 1;
    return take_numbers(dimensions, ", ", told.dims, unused) &&
           (strided == 0 || take_numbers(dimensions, ", ", told.strides, unused));
  }

  bool list(Told& told) {
    std::uint16_t count = 0;
    if (!take(count) || depth_ > 4) return false;
    ++depth_;
    std::string dims = "[", strides = "[", concrete = "[";
    bool tensors = false;
    for (std::uint16_t i = 0; i < count; ++i) {
      Told one;
      if (!read(one)) return false;
      tensors |= one.concrete.empty();
      for (std::string* text : {&dims, &strides, &concrete})
        if (i > 0) *text += ", ";
      dims += one.dims;
      strides += one.strides;
      concrete += one.concrete;
    }
    --depth_;
    told.type = tensors ? "TensorList" : "ScalarList";
    if (tensors) {
      told.dims = dims + "]";
      told.strides = strides + "]";
    } else {
      told.concrete = concrete + "]";
    }
    return true;
  }

  bool read(Told& told) {
    std::uint8_t kind = 0;
    if (!take(kind)) return false;
    switch (static_cast<Input>(kind)) {
      case Input::none:
      case Input::absent:
        return true;
      case Input::tensor:
        return tensor(told);
      case Input::list:
        return list(told);
      case Input::integer: {
        std::int64_t value = 0;
        if (!take(value)) return false;
        told.type = "Scalar";
        put(told.concrete, value);
        return true;
      }
      case Input::real: {
        double value = 0;
        if (!take(value)) return false;
        told.type = "Scalar";
        told.concrete = real_text(value);
        return true;
      }
      case Input::text: {
        std::uint16_t length = 0;
        if (!take(length) || length > rest_.size()) return false;
        told.type = "Scalar";
        told.concrete = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return true;
      }
      case Input::collective:
      case Input::keywords:
      case Input::hierarchy:
        return false;
      case Input::boolean: {
        std::uint8_t value = 0;
        if (!take(value)) return false;
        told.type = "Scalar";
        told.concrete = value != 0 ? "True" : "False";
        return true;
      }
    }
    return false;
  }

  int depth_ = 0;
};

}  // namespace

std::string_view scalar_type_name(std::uint8_t type) {
  return type < kTypes.size() ? kTypes[type] : "unknown";
}

InputTexts input_texts(std::string_view signature, ListedInputs listed) {
  InputTexts texts;
  std::vector<Told> inputs;
  for (Reader reader(signature); !reader.empty();) {
    if (reader.at_collective()) {
      if (reader.collective(texts.collective)) continue;
      texts.collective.clear();
      break;
    }
    if (reader.at_hierarchy()) {
      if (!reader.hierarchy(texts.hierarchy)) break;
      continue;
    }
    if (reader.at_keywords()) {
      std::string members;
      if (!reader.keywords(members)) break;
      texts.keywords = '{' + members + '}';
      continue;
    }
    if (reader.at_remarks()) {
      if (!reader.remarks(inputs, listed)) break;
      continue;
    }
    auto told = reader.input();
    if (!told) break;
    inputs.push_back(std::move(*told));
  }
  for (const Told& told : inputs) {
    const char* between = texts.dims.empty() ? "[" : ", ";
    texts.dims += between + told.dims;
    texts.strides += between + told.strides;
    texts.tensor_dims += between + (told.type == "TensorList" ? "[]" : told.dims);
    texts.types += between;
    append_json(texts.types, told.type);
    texts.concrete += between;
    append_json(texts.concrete, told.concrete);
  }
  if (inputs.empty()) return texts;
  for (std::string* text : {&texts.dims, &texts.strides, &texts.tensor_dims, &texts.types, &texts.concrete})
    *text += ']';
  return texts;
}

std::string_view only_inputs(std::string_view signature) {
  Reader reader(signature);
  std::string unused;
  while (reader.at_collective() || reader.at_keywords() || reader.at_hierarchy())
    if (!(reader.at_collective() ? reader.collective(unused)
          : reader.at_keywords() ? reader.keywords(unused)
                                 : reader.hierarchy(unused)))
      return {};
  return reader.rest();
}

std::string inputs_text(std::string_view signature, ListedInputs listed) {
  const InputTexts texts = input_texts(signature, listed);
  std::string out = texts.collective + texts.hierarchy;
  if (texts.keywords.size() > 2) out += ", " + texts.keywords.substr(1, texts.keywords.size() - 2);
  if (texts.dims.empty()) return out;
  return out + R"(, "Input Dims": )" + texts.dims + R"(, "Input type": )" + texts.types +
         R"(, "Input Strides": )" + texts.strides + R"(, "Concrete Inputs": )" + texts.concrete;
}

}  // namespace stepscope::record
