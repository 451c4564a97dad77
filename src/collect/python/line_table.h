// Lines of instructions, from the table that CPython 3.11 and later keep with each code object.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace stepscope::collect {

/// The line of a code unit, or none where the table names none or is damaged. `table`: the bytes of
/// co_linetable, whose format is described in CPython's Objects/locations.md. `unit`: code units from the
/// code's begin; negative: it has not begun, so `first_line`.
std::optional<int> line_at(std::string_view table, int first_line, std::ptrdiff_t unit);

}  // namespace stepscope::collect
