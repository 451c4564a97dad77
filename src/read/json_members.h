// The members of a small JSON object or array as they stand in the text, unread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepscope::read {

/// (key, text of the value) of an object, keys without quotes; nothing of what is no object. Stops at damage.
std::vector<std::pair<std::string, std::string>> members_of(std::string_view object);
/// Texts of an array's elements. Stops at damage.
std::vector<std::string> elements_of(std::string_view array);
/// The value of `key` among `members`, "" without one.
std::string_view member(const std::vector<std::pair<std::string, std::string>>& members,
                        std::string_view key);
/// The text that a JSON value is: of a string what it says, of anything else the value's own text.
std::string text_of(std::string_view value);
/// A whole number, or `otherwise`.
std::int64_t integer_of(std::string_view value, std::int64_t otherwise);
double real_of(std::string_view value, double otherwise);

}  // namespace stepscope::read
