// An op's inputs, from its signature to the args in Kineto's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::record {

/// JSON lists with one element per input. All are "" without inputs, or if the signature is invalid.
struct InputTexts {
  std::string dims, types, strides, concrete;
  std::string tensor_dims;  ///< like dims, but a list of tensors is `[]`: torch.profiler's input_shapes
  std::string collective;   ///< `, "Collective name": …` and the other fields of the op's collective
  std::string hierarchy;    ///< `, "Module Hierarchy": …` of TorchScript
  std::string keywords;     ///< a JSON object of the keyword values; "" without
};

/// The lists that torch.profiler tells, or all that were recorded.
enum class ListedInputs : std::uint8_t { as_torch, all };

InputTexts input_texts(std::string_view signature, ListedInputs listed = ListedInputs::as_torch);
/// The signature from its first input on, without what is told before it.
std::string_view only_inputs(std::string_view signature);

/// Name of a c10::ScalarType, as spelled by PyTorch's profiler.
std::string_view scalar_type_name(std::uint8_t type);

/// The fields of a collective, the keyword values, then `, "Input Dims": …, "Input type": …, "Input Strides":
/// …, "Concrete Inputs": …`. "" without inputs, or if the signature is invalid.
std::string inputs_text(std::string_view signature, ListedInputs listed = ListedInputs::as_torch);

}  // namespace stepscope::record
