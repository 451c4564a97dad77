// Scans the small JSON arrays of recorded arguments without building a tree. Nothing here recurses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::derive {

/// The raw texts between the commas of one JSON array. Empty when the text is not a balanced array or has
/// more than 65536 elements.
std::optional<std::vector<std::string_view>> array_elements(std::string_view text);

/// "[1, 2]" → {1, 2}. Empty when an element is not a 64-bit integer.
std::optional<std::vector<std::int64_t>> integer_array(std::string_view text);

/// "\"abc\"" → "abc" with the simple escapes resolved. Empty when the text is not a JSON string.
std::optional<std::string> string_text(std::string_view text);

/// The whole of `text` as a number; blanks around it are ignored.
std::optional<std::int64_t> whole_integer(std::string_view text);
std::optional<double> whole_number(std::string_view text);

/// JSON text without line breaks and blanks, except one blank after each comma. Strings inside do not change.
std::string on_one_line(std::string_view json);

}  // namespace stepscope::derive
