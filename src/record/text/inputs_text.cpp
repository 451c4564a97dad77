#include "record/text/inputs_text.h"

#include <array>
#include <optional>

#include "base/text.h"
#include "record/signature.h"
#include "record/text/json_text.h"
#include "record/text/signature_bytes.h"

namespace stepscope::record {
namespace {

/// Names by c10::ScalarType, as spelled by PyTorch's profiler.
constexpr std::array<std::string_view, 25> kTypes = {"unsigned char",
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
                                                     "c10::Float8_e4m3fn"};

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
        char digits[32];
        told.concrete.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
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

InputTexts input_texts(std::string_view signature) {
  InputTexts texts;
  for (Reader reader(signature); !reader.empty();) {
    if (reader.at_collective()) {
      if (reader.collective(texts.collective)) continue;
      texts.collective.clear();
      break;
    }
    const auto told = reader.input();
    if (!told) break;
    const char* between = texts.dims.empty() ? "[" : ", ";
    texts.dims += between + told->dims;
    texts.strides += between + told->strides;
    texts.tensor_dims += between + (told->type == "TensorList" ? "[]" : told->dims);
    texts.types += between;
    append_json(texts.types, told->type);
    texts.concrete += between;
    append_json(texts.concrete, told->concrete);
  }
  if (texts.dims.empty()) return texts;
  for (std::string* text : {&texts.dims, &texts.strides, &texts.tensor_dims, &texts.types, &texts.concrete})
    *text += ']';
  return texts;
}

std::string_view without_collective(std::string_view signature) {
  Reader reader(signature);
  std::string unused;
  if (!reader.at_collective()) return signature;
  return reader.collective(unused) ? reader.rest() : std::string_view();
}

std::string inputs_text(std::string_view signature) {
  const InputTexts texts = input_texts(signature);
  if (texts.dims.empty()) return texts.collective;
  return texts.collective + R"(, "Input Dims": )" + texts.dims + R"(, "Input type": )" + texts.types +
         R"(, "Input Strides": )" + texts.strides + R"(, "Concrete Inputs": )" + texts.concrete;
}

}  // namespace stepscope::record
