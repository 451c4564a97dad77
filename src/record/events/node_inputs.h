// What a signature tells of an op's inputs, as PyTorch's execution traces have it.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::record {

/// `"values": […], "shapes": […], "types": […], "strides": […]`; a signature that is not whole gives what was
/// read of it. Tensors have their number of elements and the size of one; ids, offset and device are not
/// recorded: 0, 0, 0 and "".
std::string node_inputs(std::string_view signature);

}  // namespace stepscope::record
