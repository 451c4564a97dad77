// Formats that are known by their first bytes and not read here, so that they are not taken for damaged
// traces.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepscope::read {

/// Whether a file that begins with `head` is DFTracer's (.pfw): one object per line, no commas between them,
/// the id first. Some versions write a "[" before the first.
bool is_dftracer(std::string_view head);

/// Whether a file is read as DFTracer's: by its first bytes, or by its name, as the first lines of a damaged
/// one say nothing.
bool is_pfw(std::string_view path, std::string_view head);

/// An Error with the remedy if a file that begins with `head` is a Perfetto trace, a log of Darshan, JSON
/// Lines, text in UTF-16 or UTF-32, or a pointer of Git LFS.
std::optional<Error> foreign_error(std::string_view head, const std::string& path);

}  // namespace stepscope::read
