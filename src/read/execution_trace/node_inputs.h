// The inputs of an execution trace's node, as the args that Kineto's JSON has.
#pragma once

#include <string>
#include <string_view>

namespace stepscope::read {

/// JSON lists of a node as written in the file, each followed by readable memory; "" if absent.
struct NodeLists {
  std::string_view values, shapes, types, strides;
};

/// JSON lists with an element per input. `strides` is "" if the file has none.
struct InputArgs {
  std::string dims, types, strides, concrete;
};

/// False, with `args` empty, when the lists differ in length or are not lists.
bool read_inputs(const NodeLists& lists, InputArgs& args);

}  // namespace stepscope::read
