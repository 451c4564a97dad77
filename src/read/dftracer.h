// Recognises DFTracer's files (.pfw), so that they are not read as damaged Chrome traces.
#pragma once

#include <string_view>

namespace stepscope::read {

/// Whether a file that begins with `head` is DFTracer's: one object per line, no commas between them, the id
/// first. Some versions write a "[" before the first.
bool is_dftracer(std::string_view head);

}  // namespace stepscope::read
