// What a node of an execution trace was called with, as the args by which Kineto's JSON has it.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::read {

/// JSON lists of a node as they stand in the file, each followed by readable text; "" where there is none.
struct NodeLists {
  std::string_view values, shapes, types, strides;
};

/// JSON lists with an element per input. `strides` is "" where the file has none.
struct InputArgs {
  std::string dims, types, strides, concrete;
};

/// False, and nothing in `args`, when the lists are not of one length or no lists.
bool read_inputs(const NodeLists& lists, InputArgs& args);

}  // namespace stepscope::read
