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
};
InputTexts input_texts(std::string_view signature);
/// The signature from its first input on, without the collective.
std::string_view without_collective(std::string_view signature);

/// Name of a c10::ScalarType, as spelled by PyTorch's profiler.
std::string_view scalar_type_name(std::uint8_t type);

/// The fields of a collective, then `, "Input Dims": …, "Input type": …, "Input Strides": …, "Concrete
/// Inputs": …`. "" without inputs, or if the signature is invalid.
std::string inputs_text(std::string_view signature);

}  // namespace stepscope::record
