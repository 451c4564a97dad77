// An op's inputs, from its signature to the format of PyTorch's execution traces.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::record {

/// `"values": […], "shapes": […], "types": […], "strides": […]`; of an invalid signature, the inputs that
/// could be read. Tensors have their number of elements and the element size; ids, offset and device are not
/// recorded and are 0, 0, 0 and "".
std::string node_inputs(std::string_view signature);

}  // namespace stepscope::record
