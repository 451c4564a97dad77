// Who owns what in Arrow's structs: each struct carries what it refers to and lets go of it when it is
// released, on its own or with its parent.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/formats/arrow.h"

namespace stepscope::report {

using ArrowBuffers = std::vector<const void*>;
using ArrowMetadata = std::vector<std::pair<std::string_view, std::string>>;

/// An array of length 0 with `children` empty structs, which the caller fills.
void fill_array(ArrowArray* out, std::shared_ptr<const void> kept, ArrowBuffers buffers,
                std::size_t children);
/// `format` lives as long as the program.
void fill_schema(ArrowSchema* out, const char* format, std::string name, const ArrowMetadata& metadata,
                 std::size_t children);
/// A stream of one array.
void fill_stream(ArrowArrayStream* out, const ArrowTable& table);

}  // namespace stepscope::report
