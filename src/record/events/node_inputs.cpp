#include "record/events/node_inputs.h"

#include <array>
#include <cmath>

#include "base/text.h"
#include "record/signature.h"
#include "record/text/inputs_text.h"
#include "record/text/json_text.h"
#include "record/text/signature_bytes.h"

namespace stepscope::record {
namespace {

/// Bytes per element by c10::ScalarType; 1 for types smaller than a byte.
constexpr std::array<std::uint8_t, 25> kBytes = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1,
                                                 1, 4, 2, 1, 1, 1, 1, 1, 1, 2, 1,  1};

struct Node {
  std::string value, shape = "[]", type, stride = "[]";
};

class SignatureReader : public SignatureBytes {
 public:
  using SignatureBytes::SignatureBytes;

  bool read(Node& node) {
    std::uint8_t kind = 0;
    if (!take(kind)) return false;
    switch (static_cast<Input>(kind)) {
      case Input::none:
        node.value = R"("")";
        node.type = "Unknown";
        return true;
      case Input::absent:
        node.value = R"("<None>")";
        node.type = "None";
        return true;
      case Input::tensor:
        return tensor(node);
      case Input::list:
        return list(node);
      case Input::integer: {
        std::int64_t value = 0;
        node.type = "Int";
        if (!take(value)) return false;
        put(node.value, value);
        return true;
      }
      case Input::real:
        return real(node);
      case Input::boolean: {
        std::uint8_t value = 0;
        node.type = "Bool";
        if (!take(value)) return false;
        node.value = value != 0 ? "true" : "false";
        return true;
      }
      case Input::text:
      case Input::collective:
      case Input::keywords:
      case Input::hierarchy:
        return false;
    }
    return false;
  }

 private:
  bool tensor(Node& node) {
    std::uint8_t type = 0, dimensions = 0, strided = 0;
    std::uint64_t elements = 1, unused = 1;
    if (!take(type) || !take(dimensions) || !take(strided) ||
        !take_numbers(dimensions, ",", node.shape, elements) ||
        (strided != 0 && !take_numbers(dimensions, ",", node.stride, unused)))
      return false;
    node.type = "Tensor(" + std::string(scalar_type_name(type)) + ")";
    node.value = "[0,0,0,";
    put(node.value, static_cast<std::int64_t>(elements));
    node.value += ',';
    put(node.value, type < kBytes.size() ? kBytes[type] : 0);
    node.value += R"(,""])";
    return true;
  }

  bool real(Node& node) {
    double value = 0;
    node.type = "Double";
    if (!take(value)) return false;
    if (!std::isfinite(value)) {
      node.value = std::isnan(value) ? R"("nan")" : value < 0 ? R"("-inf")" : R"("inf")";
      return true;
    }
    put_real(node.value, value);
    if (node.value.find_first_of(".e") == node.value.npos) node.value += ".0";
    return true;
  }

  bool list(Node& node) {
    std::uint16_t count = 0;
    if (!take(count) || depth_ > 4) return false;
    ++depth_;
    node = {"[", "[", "GenericList[", "["};
    for (std::uint16_t i = 0; i < count; ++i) {
      Node one;
      if (!read(one)) return false;
      if (i > 0)
        for (std::string* text : {&node.value, &node.shape, &node.type, &node.stride}) *text += ',';
      node.value += one.value;
      node.shape += one.shape;
      node.type += one.type;
      node.stride += one.stride;
    }
    --depth_;
    for (std::string* text : {&node.value, &node.shape, &node.type, &node.stride}) *text += ']';
    return true;
  }

  int depth_ = 0;
};

}  // namespace

std::string node_inputs(std::string_view signature) {
  std::string values, shapes, types, strides;
  for (SignatureReader reader(only_inputs(signature)); !reader.empty();) {
    Node node;
    if (!reader.read(node)) break;
    if (!types.empty())
      for (std::string* text : {&values, &shapes, &types, &strides}) *text += ',';
    values += node.value;
    shapes += node.shape;
    append_json(types, node.type);
    strides += node.stride;
  }
  return R"("values": [)" + values + R"(], "shapes": [)" + shapes + R"(], "types": [)" + types +
         R"(], "strides": [)" + strides + "]";
}

}  // namespace stepscope::record
