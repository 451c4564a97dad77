// DFTracer's files (.pfw): recognised, so that they are not taken for damaged Chrome traces.
#pragma once

#include <string_view>

namespace stepscope::read {

/// Whether a file that begins with `head` is one: an object a line, no comma between them, an id first. The
/// "[" in front is written by some versions.
bool is_dftracer(std::string_view head);

}  // namespace stepscope::read
