// Scanning the small JSON arrays of recorded arguments without building a tree. Nothing here recurses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::derive {

/// The raw texts between the commas of one JSON array. Nothing when the text is no balanced array, or has
/// more than 65536 elements.
std::optional<std::vector<std::string_view>> array_elements(std::string_view text);

/// "[1, 2]" → {1, 2}. Nothing when an element is no 64-bit integer.
std::optional<std::vector<std::int64_t>> integer_array(std::string_view text);

/// "\"abc\"" → "abc" with the simple escapes resolved. Nothing when the text is no JSON string.
std::optional<std::string> string_text(std::string_view text);

/// The whole of `text`, blanks around it aside, as a number.
std::optional<std::int64_t> whole_integer(std::string_view text);
std::optional<double> whole_number(std::string_view text);

/// JSON text without line breaks and blanks, one blank behind each comma; inside strings nothing changes.
std::string on_one_line(std::string_view json);

}  // namespace stepscope::derive
