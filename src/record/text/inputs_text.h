// What a signature tells of an op's inputs, as the args by which Kineto's JSON has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope::record {

/// JSON lists with an element per input; all "" of no inputs, or of a signature that is not whole.
struct InputTexts {
  std::string dims, types, strides, concrete;
  std::string tensor_dims;  ///< as dims, but a list of tensors is `[]`: torch.profiler's input_shapes
  std::string collective;   ///< `, "Collective name": …` and what else is known of the op's collective
};
InputTexts input_texts(std::string_view signature);
/// The signature from its first input on.
std::string_view without_collective(std::string_view signature);

/// Of a c10::ScalarType, as PyTorch's profiler spells it.
std::string_view scalar_type_name(std::uint8_t type);

/// `, "Input Dims": …, "Input type": …, "Input Strides": …, "Concrete Inputs": …` and what is known of a
/// collective; "" of no inputs, or of a signature that is not whole.
std::string inputs_text(std::string_view signature);

}  // namespace stepscope::record
